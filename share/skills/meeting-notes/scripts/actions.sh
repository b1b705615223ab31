#!/bin/sh
# Prints the lines of meeting notes that look like actions, with their numbers.
# usage: actions.sh FILE...
if [ $# -eq 0 ]; then
    echo "usage: actions.sh FILE..." >&2
    exit 2
fi
exec awk '
{ line = tolower($0) }
    line ~ /(^|[^a-z])(todo|ai:|action:)/ || line ~ /[^a-z](will|by (mon|tue|wed|thu|fri|sat|sun))/ {
        printf "%s:%d: %s\n", FILENAME, FNR, $0
    }' "$@"
