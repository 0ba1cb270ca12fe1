"""What the built `onedim`, named on the check's command line, says of the ops of the shipped packs."""

import argparse
import json
import subprocess


def offered_ops():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", help="the built `onedim`")
    command = [parser.parse_args().command, "ops", "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["ops"]
