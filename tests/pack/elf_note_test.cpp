#include "core/pack/elf_note.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "tests/pack/gallery.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

// The bytes in a heap block of exactly their size, so that a sanitizer sees every read beyond it.
NoteResult read(std::string_view bytes) {
  auto exact = std::make_unique<std::byte[]>(bytes.size());
  std::memcpy(exact.get(), bytes.data(), bytes.size());
  return read_pack_note({exact.get(), bytes.size()});
}

VerdictWord word_of(std::string_view bytes) { return read(bytes).verdict.word; }

const std::string& good_pack() {
  static const std::string bytes = read_text(gallery_pack("alpha"));
  return bytes;
}

Elf64_Ehdr header_of(const std::string& bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

// A pack whose header was changed by `edit`.
template <typename Edit>
std::string with_header(Edit edit) {
  std::string bytes = good_pack();
  Elf64_Ehdr header = header_of(bytes);
  edit(header);
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

// A pack whose note was changed by `edit`.
template <typename Edit>
std::string with_note(Edit edit) {
  std::string bytes = good_pack();
  const size_t at = bytes.find(std::string("onedim\0\0", 8)) - offsetof(onedim_note_t, owner);
  onedim_note_t note;
  std::memcpy(&note, bytes.data() + at, sizeof(note));
  edit(note);
  std::memcpy(bytes.data() + at, &note, sizeof(note));
  return bytes;
}

TEST(ElfNote, ReadsTheNoteOfAPack) {
  const NoteResult result = read(good_pack());
  ASSERT_TRUE(result.verdict.ok()) << result.verdict.reason;
  EXPECT_EQ(result.note.abi_major, ONEDIM_ABI_MAJOR);
  EXPECT_EQ(result.note.abi_minor, ONEDIM_ABI_MINOR);
  EXPECT_EQ(result.note.min_host_minor, ONEDIM_ABI_MINOR);
  EXPECT_EQ(result.note.target, host_target());
  EXPECT_TRUE(check_pack_note(result.note).ok());
}

TEST(ElfNote, WhatIsNoElfFileIsNoPlugin) {
  EXPECT_EQ(word_of(""), VerdictWord::kNotAPlugin);
  EXPECT_EQ(word_of("\x7f"
                    "EL"),
            VerdictWord::kNotAPlugin);
  EXPECT_EQ(
      word_of("just some text, named like a plugin, long enough for a header of sixty-four bytes"),
      VerdictWord::kNotAPlugin);
  EXPECT_EQ(word_of(std::string(5000, '\0')), VerdictWord::kNotAPlugin);
}

TEST(ElfNote, OtherMachinesAreNamed) {
  const auto arm = with_header([](Elf64_Ehdr& header) { header.e_machine = EM_ARM; });
  const NoteResult result = read(arm);
  EXPECT_EQ(result.verdict.word, VerdictWord::kWrongArch);
  EXPECT_NE(result.verdict.reason.find("built for arm"), std::string::npos)
      << result.verdict.reason;
  EXPECT_EQ(word_of(with_header([](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; })),
            VerdictWord::kWrongArch);
  EXPECT_EQ(word_of(with_header([](Elf64_Ehdr& h) { h.e_ident[EI_DATA] = ELFDATA2MSB; })),
            VerdictWord::kWrongArch);
}

TEST(ElfNote, OnlySharedLibrariesArePlugins) {
  for (const int type : {ET_REL, ET_EXEC, ET_CORE, ET_NONE}) {
    EXPECT_EQ(word_of(with_header([&](Elf64_Ehdr& h) { h.e_type = static_cast<uint16_t>(type); })),
              VerdictWord::kNotAPlugin);
  }
  EXPECT_EQ(word_of(with_header([](Elf64_Ehdr& h) { h.e_phnum = 0; })), VerdictWord::kNotAPlugin);
  EXPECT_EQ(word_of(read_text(gallery_pack("no_note"))), VerdictWord::kNotAPlugin);
  EXPECT_EQ(word_of(read_text(ONEDIM_PROBE_PROGRAM)), VerdictWord::kNotAPlugin);
}

TEST(ElfNote, OffsetsThatOverflowAreOutside) {
  EXPECT_EQ(word_of(with_header([](Elf64_Ehdr& h) { h.e_phoff = UINT64_MAX - 8; })),
            VerdictWord::kTruncated);
  EXPECT_EQ(word_of(with_header([](Elf64_Ehdr& h) { h.e_shoff = UINT64_MAX - 8; })),
            VerdictWord::kTruncated);
  EXPECT_EQ(word_of(with_header([](Elf64_Ehdr& h) { h.e_phnum = 0xffff; })),
            VerdictWord::kTruncated);
}

TEST(ElfNote, EveryShorterFileIsTruncated) {
  const std::string_view whole = good_pack();
  for (size_t size = 0; size < whole.size(); size += size < 6000 ? 1 : 97) {
    const VerdictWord expected =
        size < SELFMAG ? VerdictWord::kNotAPlugin : VerdictWord::kTruncated;
    ASSERT_EQ(word_of(whole.substr(0, size)), expected)
        << "cut to " << size << " of " << whole.size();
  }
  EXPECT_EQ(word_of(whole.substr(0, whole.size() - 1)), VerdictWord::kTruncated);
}

TEST(ElfNote, AnyByteMayBeWrong) {
  std::string bytes = good_pack();
  const size_t end = std::min<size_t>(bytes.size(), 4096);
  for (size_t at = 0; at < end; ++at) {
    const char kept = bytes[at];
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      bytes[at] = static_cast<char>(value);
      const NoteResult result = read(bytes);  // a sanitizer build would stop at a read outside
      ASSERT_EQ(result.verdict.ok(), result.verdict.reason.empty());
    }
    bytes[at] = kept;
  }
  EXPECT_TRUE(read(bytes).verdict.ok());
}

TEST(ElfNote, ManyBytesMayBeWrong) {
  std::mt19937_64 random(random_seed());
  const std::string good = good_pack();
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good.substr(0, random() % 2 == 0 ? good.size() : random() % good.size());
    const size_t reach = std::min<size_t>(bytes.size(), 1500);
    for (size_t i = 0; reach > 20 && i < random() % 12; ++i) {
      bytes[20 + random() % (reach - 20)] = static_cast<char>(random());
    }
    const NoteResult result = read(bytes);
    ASSERT_EQ(result.verdict.ok(), result.verdict.reason.empty());
  }
}

TEST(ElfNote, NotesOfOtherOwnersAreNotOurs) {
  EXPECT_EQ(word_of(with_note([](onedim_note_t& note) { note.type = 2; })),
            VerdictWord::kNotAPlugin);
  EXPECT_EQ(word_of(with_note([](onedim_note_t& note) { note.owner[0] = 'O'; })),
            VerdictWord::kNotAPlugin);
  EXPECT_EQ(word_of(with_note([](onedim_note_t& note) { note.owner_size = 6; })),
            VerdictWord::kNotAPlugin);
  EXPECT_EQ(word_of(with_note([](onedim_note_t& note) { note.descriptor_size = 0xfffffff0; })),
            VerdictWord::kNotAPlugin);
}

TEST(ElfNote, MalformedDescriptorsAreBad) {
  EXPECT_EQ(word_of(with_note([](onedim_note_t& note) { note.descriptor_size = 20; })),
            VerdictWord::kBadDescriptor);
  EXPECT_EQ(word_of(with_note([](onedim_note_t& note) { std::memset(note.target, 'x', 32); })),
            VerdictWord::kBadDescriptor);
}

TEST(ElfNote, VersionsAndTargetDecide) {
  PackNote note{ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, ONEDIM_ABI_MINOR, 0,
                std::string(host_target())};
  EXPECT_TRUE(check_pack_note(note).ok());
  note.abi_minor = 99;
  EXPECT_TRUE(check_pack_note(note).ok()) << "a newer pack that can live with this host";
  note.min_host_minor = 98;
  EXPECT_EQ(check_pack_note(note).word, VerdictWord::kNeedsNewerHost);
  note.abi_major = 2;
  const Verdict verdict = check_pack_note(note);
  EXPECT_EQ(verdict.word, VerdictWord::kIncompatible);
  EXPECT_NE(verdict.reason.find("2.99"), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find(ONEDIM_ABI_RELEASE), std::string::npos) << verdict.reason;
  note = {ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, 0, 0, "mips64-linux-gnu"};
  EXPECT_EQ(check_pack_note(note).word, VerdictWord::kWrongArch);
}

}  // namespace
}  // namespace onedim
