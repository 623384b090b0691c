"""What a release gives away: attacks that are run, and what an attacker is expected to find."""
