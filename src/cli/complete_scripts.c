/* The completion scripts: each passes the words to `dormouse help --complete` and shows the answer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "cli/complete.h"

static const char bash[] =
    "# bash completion for dormouse; made by `dormouse help --completion bash`\n"
    "_dormouse()\n"
    "{\n"
    "    local line cur=\"${COMP_WORDS[COMP_CWORD]}\" kind\n"
    "    if [ \"$cur\" = \"=\" ]; then cur=\"\"; fi\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case \"$line\" in\n"
    "        :file | :dir)\n"
    "            kind=-f; if [ \"$line\" = :dir ]; then kind=-d; fi\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            while IFS= read -r line; do COMPREPLY+=(\"$line\"); done "
    "< <(compgen \"$kind\" -- \"$cur\") ;;\n"
    "        *) printf -v line %q \"${line%%$'\\t'*}\"; COMPREPLY+=(\"$line\") ;;\n"
    "        esac\n"
    "    done < <(\"${COMP_WORDS[0]}\" help --complete -- "
    "\"${COMP_WORDS[@]:0:COMP_CWORD+1}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _dormouse dormouse\n";

static const char zsh[] =
    "#compdef dormouse\n"
    "# zsh completion for dormouse; made by `dormouse help --completion zsh`\n"
    "_dormouse()\n"
    "{\n"
    "    local line\n"
    "    local -a names says\n"
    "    for line in \"${(@f)$(${(Q)words[1]} help --complete -- "
    "\"${(@Q)words[1,CURRENT]}\" 2>/dev/null)}\"; do\n"
    "        case \"$line\" in\n"
    "        '') ;;\n"
    "        :file) _files ;;\n"
    "        :dir) _files -/ ;;\n"
    "        *$'\\t'*) names+=(\"${line%%$'\\t'*}\"); "
    "says+=(\"${line%%$'\\t'*} -- ${line#*$'\\t'}\") ;;\n"
    "        *) names+=(\"$line\"); says+=(\"$line\") ;;\n"
    "        esac\n"
    "    done\n"
    "    if (( $#names )); then compadd -l -d says -a names; fi\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _dormouse ]; then _dormouse \"$@\"; else compdef _dormouse dormouse; "
    "fi\n";

static const char fish[] =
    "# fish completion for dormouse; made by `dormouse help --completion fish`\n"
    "function __dormouse_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    for line in ($words[1] help --complete -- $words \"$current\" 2>/dev/null)\n"
    "        switch $line\n"
    "            case :file\n"
    "                __fish_complete_path \"$current\"\n"
    "            case :dir\n"
    "                __fish_complete_directories \"$current\"\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c dormouse -f -a '(__dormouse_complete)'\n";

const char *complete_script(const char *shell)
{
    if (strcmp(shell, "zsh") == 0)
        return zsh;
    if (strcmp(shell, "fish") == 0)
        return fish;
    BUG_IF(strcmp(shell, "bash") != 0);
    return bash;
}
