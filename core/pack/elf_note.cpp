#include "core/pack/elf_note.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace onedim {
namespace {

using Bytes = std::span<const std::byte>;

#if defined(__x86_64__)
constexpr uint16_t kHostMachine = EM_X86_64;
constexpr std::string_view kHostTarget = "x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr uint16_t kHostMachine = EM_AARCH64;
constexpr std::string_view kHostTarget = "aarch64-linux-gnu";
#elif defined(__riscv)
constexpr uint16_t kHostMachine = EM_RISCV;
constexpr std::string_view kHostTarget = "riscv64-linux-gnu";
#else
#error "elf_note: name this machine's ELF number and target here"
#endif

constexpr size_t kDescriptorSize = sizeof(onedim_note_t) - offsetof(onedim_note_t, abi_major);
constexpr std::string_view kOwner{ONEDIM_NOTE_OWNER, sizeof(ONEDIM_NOTE_OWNER)};

// True if [offset, offset + size) lies in a file of `total` bytes; the sum may overflow.
bool is_inside(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

template <typename T>
std::optional<T> read_at(Bytes file, uint64_t offset) {
  if (!is_inside(offset, sizeof(T), file.size())) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_386:
      return "x86";
    case EM_X86_64:
      return "x86_64";
    case EM_ARM:
      return "arm";
    case EM_AARCH64:
      return "aarch64";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390";
    case EM_RISCV:
      return "riscv";
    default:
      return fmt::format("machine {}", machine);
  }
}

Verdict not_a_plugin(std::string reason) { return {VerdictWord::kNotAPlugin, std::move(reason)}; }

Verdict truncated(std::string_view what, uint64_t end, uint64_t size) {
  return {
      VerdictWord::kTruncated,
      fmt::format("{} ends at byte {}, but the file has only {}; copy it again", what, end, size)};
}

// The identification bytes, which mean the same in every ELF file.
Verdict check_identification(Bytes file) {
  if (file.empty()) return not_a_plugin("the file is empty");
  if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
    return not_a_plugin("not an ELF file");
  }
  if (file.size() < EI_NIDENT) return truncated("the ELF header", sizeof(Elf64_Ehdr), file.size());
  const auto byte_at = [&](size_t i) { return std::to_integer<int>(file[i]); };
  if (byte_at(EI_CLASS) != ELFCLASS64) {
    return {VerdictWord::kWrongArch,
            fmt::format("a {} ELF file, expected 64-bit {}",
                        byte_at(EI_CLASS) == ELFCLASS32 ? "32-bit" : "malformed", kHostTarget)};
  }
  if (byte_at(EI_DATA) != ELFDATA2LSB) {
    return {VerdictWord::kWrongArch,
            fmt::format("a big-endian ELF file, expected {}", kHostTarget)};
  }
  return {};
}

Verdict check_header(const Elf64_Ehdr& header, uint64_t size) {
  if (header.e_machine != kHostMachine) {
    return {VerdictWord::kWrongArch, fmt::format("built for {}, this host is {}",
                                                 machine_name(header.e_machine), kHostTarget)};
  }
  if (header.e_type != ET_DYN) return not_a_plugin("an ELF file, but not a shared library");
  if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return not_a_plugin("a shared library without program headers");
  }
  const uint64_t segments = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (!is_inside(header.e_phoff, segments, size)) {
    return truncated("the program header table", header.e_phoff + segments, size);
  }
  const uint64_t sections = uint64_t{header.e_shnum} * header.e_shentsize;
  if (!is_inside(header.e_shoff, sections, size)) {
    return truncated("the section header table", header.e_shoff + sections, size);
  }
  return {};
}

uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// `descriptor` is the note's payload.
NoteResult decode(Bytes descriptor) {
  if (descriptor.size() < kDescriptorSize) {
    return {{VerdictWord::kBadDescriptor,
             fmt::format("its onedim note has {} bytes, expected at least {}", descriptor.size(),
                         kDescriptorSize)},
            {}};
  }
  onedim_note_t note{};
  std::memcpy(&note.abi_major, descriptor.data(), kDescriptorSize);
  if (std::memchr(note.target, 0, sizeof(note.target)) == nullptr) {
    return {{VerdictWord::kBadDescriptor, "the target in its onedim note is not zero-terminated"},
            {}};
  }
  return {{}, {note.abi_major, note.abi_minor, note.min_host_minor, note.build_kind, note.target}};
}

// Walks the notes of one segment; a malformed one ends the walk.
std::optional<NoteResult> find_note(Bytes segment, uint64_t alignment) {
  uint64_t at = 0;
  while (const auto header = read_at<Elf64_Nhdr>(segment, at)) {
    const uint64_t owner = at + sizeof(Elf64_Nhdr);
    const uint64_t descriptor = align_up(owner + header->n_namesz, alignment);
    if (!is_inside(descriptor, header->n_descsz, segment.size())) return std::nullopt;
    if (header->n_type == ONEDIM_NOTE_TYPE && header->n_namesz == kOwner.size() &&
        std::memcmp(segment.data() + owner, kOwner.data(), kOwner.size()) == 0) {
      return decode(segment.subspan(descriptor, header->n_descsz));
    }
    at = align_up(descriptor + header->n_descsz, alignment);
  }
  return std::nullopt;
}

}  // namespace

std::string_view host_target() { return kHostTarget; }

NoteResult read_pack_note(Bytes file) {
  if (Verdict verdict = check_identification(file); !verdict.ok()) return {verdict, {}};
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header) return {truncated("the ELF header", sizeof(Elf64_Ehdr), file.size()), {}};
  if (Verdict verdict = check_header(*header, file.size()); !verdict.ok()) return {verdict, {}};

  std::optional<NoteResult> found;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return {truncated("a program header", header->e_phoff, file.size()), {}};
    if (!is_inside(segment->p_offset, segment->p_filesz, file.size())) {
      return {truncated("a segment", segment->p_offset + segment->p_filesz, file.size()), {}};
    }
    if (segment->p_type != PT_NOTE || found) continue;
    found = find_note(file.subspan(segment->p_offset, segment->p_filesz),
                      segment->p_align == 8 ? 8 : 4);
  }
  if (found) return *found;
  return {not_a_plugin("a shared library without the onedim note; build it with onedim_add_pack"),
          {}};
}

Verdict check_pack_note(const PackNote& note) {
  if (note.abi_major != ONEDIM_ABI_MAJOR) {
    return {VerdictWord::kIncompatible,
            fmt::format("built for pack abi {}.{}, this host has {}.{}; rebuild it", note.abi_major,
                        note.abi_minor, ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR)};
  }
  if (note.min_host_minor > ONEDIM_ABI_MINOR) {
    return {VerdictWord::kNeedsNewerHost,
            fmt::format("needs a host with pack abi {}.{}, this one has {}.{}; update onedim",
                        note.abi_major, note.min_host_minor, ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR)};
  }
  if (note.target != kHostTarget) {
    return {VerdictWord::kWrongArch,
            fmt::format("built for \"{}\", this host is {}", note.target, kHostTarget)};
  }
  return {};
}

}  // namespace onedim
