/* Commands against a daemon: what they print, what they refuse, and how they end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/stat.h>

#include "cli/command.h"
#include "ran.h"

TEST(agents_are_made_looked_at_changed_and_destroyed)
{
    write_config(t, "agent: { name: Ada }\n");
    start_daemon(t);
    LINES({ "agent list", CLI_DONE, "ada" }, { "agent create Eve --id eve", CLI_DONE, "eve" },
          { "agent create Eve --id eve", CLI_FAILED, "eve" },
          { "agent create Eve --id Eve!", CLI_FAILED, "lower-case letters" },
          { "agent create --template pirate", CLI_FAILED, "there is no template" },
          { "agent create", CLI_USAGE, "" }, { "agent show eve", CLI_DONE, "Eve" },
          { "agent show nobody", CLI_FAILED, "there is no agent" }, { "agent show", CLI_USAGE, "" },
          { "agent set eve --name 'Eve the second'", CLI_DONE, "" },
          { "agent show eve", CLI_DONE, "Eve the second" },
          { "agent set eve --instructions - <<< Speak softly.", CLI_DONE, "" },
          { "agent show eve", CLI_DONE, "Speak softly." },
          { "agent set eve --instructions /nowhere", CLI_FAILED, "/nowhere" },
          { "agent set eve", CLI_USAGE, "" },
          { "agent set eve --model gpt-none", CLI_FAILED, "there is no model" },
          { "agent set eve --tools fly", CLI_FAILED, "there is no tool" },
          { "agent set eve --session-ttl 0", CLI_FAILED, "sessionTtlSeconds" },
          { "agent set eve --session-ttl long", CLI_FAILED, "--session-ttl takes seconds" },
          { "agent set eve --auto-approve-memory perhaps", CLI_USAGE, "auto-approve-memory" },
          { "agent pause eve", CLI_DONE, "" }, { "agent list", CLI_DONE, "paused" },
          { "run hello --agent eve", CLI_FAILED, "paused; `dormouse agent resume eve`" },
          { "agent resume eve", CLI_DONE, "" },
          { "agent sleep eve 2001-01-01T00:00:00Z", CLI_FAILED, "past" },
          { "agent sleep eve sometime", CLI_USAGE, "neither how long nor a moment" },
          { "agent sleep eve 2h", CLI_DONE, "" }, { "agent sleep eve none", CLI_DONE, "" },
          { "agent slots eve 'primaryGoal=Run 10 km' preferenceByKey.tone=short", CLI_DONE,
            "Run 10 km" },
          { "agent slots eve primaryGoal=", CLI_DONE, "short" },
          { "agent slots eve favourite=x", CLI_USAGE, "there is no slot \"favourite\"" },
          { "agent slots eve primaryGoal", CLI_USAGE, "KEY=VALUE" },
          { "agent duplicate eve", CLI_DONE, "copy" },
          { "agent destroy eve --confirm Eve", CLI_FAILED, "exactly" },
          { "agent destroy eve --confirm 'Eve the second'", CLI_DONE, "" },
          { "agent show eve --json", CLI_DONE, "destroyed" });
    stop_daemon(t);
}

TEST(an_agent_goes_into_an_archive_and_comes_out_of_it)
{
    const char *file = test_path(t, "a.tar.gz"), *junk = test_path(t, "junk");

    test_write_file(junk, "nonsense", 8);
    start_daemon(t);
    LINES({ arena_printf(&t->arena, "agent export planner %s", file), CLI_DONE, "a.tar.gz" },
          { arena_printf(&t->arena, "agent export planner %s", file), CLI_FAILED, "a.tar.gz" },
          { arena_printf(&t->arena, "agent export nobody %s", test_path(t, "b")), CLI_FAILED,
            "there is no agent" },
          { "agent export planner /nowhere/a", CLI_FAILED, "/nowhere" },
          { arena_printf(&t->arena, "agent import %s --id twin", file), CLI_DONE, "twin" },
          { arena_printf(&t->arena, "agent import %s --id twin", file), CLI_FAILED, "twin" },
          { arena_printf(&t->arena, "agent import %s", junk), CLI_FAILED, "" },
          { "agent import /nowhere", CLI_FAILED, "/nowhere" });
    stop_daemon(t);
}

TEST(secrets_are_set_from_standard_input_and_never_shown)
{
    start_daemon(t);
    LINES({ "secret list", CLI_DONE, "" },
          { "secret set far-key <<< sk-never-shown", CLI_DONE, "far-key" },
          { "secret list", CLI_DONE, "far-key" }, { "secret set far-key", CLI_FAILED, "empty" },
          { "secret set .hidden <<< x", CLI_FAILED, "letter" }, { "secret set", CLI_USAGE, "" },
          { "secret rm far-key", CLI_DONE, "" }, { "secret rm far-key", CLI_FAILED, "far-key" });
    ASSERT(strstr(run_line(t, "secret list --json").out, "sk-never") == NULL);
    stop_daemon(t);
}

TEST(what_is_stopped_is_told_and_lifted)
{
    start_daemon(t);
    LINES({ "kill", CLI_DONE, "Nothing is stopped." },
          { "kill --reason why", CLI_USAGE, "--reason goes with" },
          { "kill --all --agent planner", CLI_USAGE, "" },
          { "kill --tools spells", CLI_FAILED, "there is no class of tools" },
          { "kill --agent plan --reason 'too loud'", CLI_DONE, "too loud" },
          { "run hi", CLI_DENIED, "too loud" }, { "unkill", CLI_USAGE, "say what: --all" },
          { "unkill --agent plan", CLI_DONE, "Nothing is stopped." },
          { "kill --all", CLI_DONE, "all" },
          { "unkill --all --json", CLI_DONE, "{\"changed\":true,\"switches\":[]}" },
          { "kill --json", CLI_DONE, "{\"switches\":[]}" });
    stop_daemon(t);
}

TEST(memory_is_written_read_and_brought_back)
{
    start_daemon(t);
    LINES({ "memory ls", CLI_DONE, "AGENTS.md" },
          { "memory write knowledge/a.md <<< - tea", CLI_DONE, "" },
          { "memory cat knowledge/a.md", CLI_DONE, "- tea" },
          { "memory cat knowledge/none.md", CLI_FAILED, "knowledge/none.md" },
          { "memory cat ../../etc/passwd", CLI_FAILED, "" },
          { "memory write AGENTS.md <<< x", CLI_DENIED, "is read only" },
          { "memory write knowledge/a.md --base 0 <<< x", CLI_FAILED, "" },
          { "memory write knowledge/a.md --base x <<< x", CLI_USAGE, "--base must be a number" },
          { "memory write knowledge/a.md /nowhere", CLI_FAILED, "/nowhere" },
          { "memory history knowledge/a.md", CLI_DONE, "owner" },
          { "memory rm knowledge/a.md", CLI_DONE, "" },
          { "memory rm knowledge/a.md", CLI_FAILED, "knowledge/a.md" },
          { "memory cat knowledge/a.md --at 1", CLI_DONE, "- tea" },
          { "memory cat knowledge/a.md --at 00000000000000000000000000000000000000000000000019",
            CLI_FAILED, "" },
          { "memory cat knowledge/a.md --at 0", CLI_USAGE, "--at takes a number from 1" },
          { "memory cat knowledge/a.md --at x", CLI_USAGE, "--at takes a number from 1" },
          { "memory restore knowledge/a.md 9", CLI_FAILED, "9" },
          { "memory restore knowledge/a.md x", CLI_USAGE, "VERSION must be a number" },
          { "memory restore knowledge/a.md 1", CLI_DONE, "" },
          { "memory cat knowledge/a.md", CLI_DONE, "- tea" },
          { "memory ls --agent nobody", CLI_FAILED, "there is no agent" },
          { "agent create Eve", CLI_DONE, "" },
          { "memory ls", CLI_FAILED, "Give --agent: eve, planner" },
          { "memory ls --agent eve", CLI_DONE, "AGENTS.md" });
    stop_daemon(t);
}

/* Without data too: a number that can't be is a mistake of the person's, whatever there is. */
TEST(numbers_of_options_are_checked_before_anything_is_looked_for)
{
    static const struct line lines[] = {
        { "runs --limit 0", CLI_USAGE, "--limit takes a number from 1 to 1000" },
        { "runs --limit 1001", CLI_USAGE, "--limit takes a number from 1 to 1000" },
        { "runs --limit x", CLI_USAGE, "--limit takes a number from 1 to 1000" },
        { "search x --limit 0", CLI_USAGE, "--limit takes a number from 1 to 100" },
        { "search x --limit 101", CLI_USAGE, "--limit takes a number from 1 to 100" },
        { "run hi --max-iterations 0", CLI_USAGE, "--max-iterations takes a number from 1" },
        { "run hi --max-iterations 100001", CLI_USAGE, "--max-iterations takes a number from 1" },
        { "timer next FREQ=DAILY --count 0", CLI_USAGE, "--count takes a number from 1 to 1000" },
        { "timer next FREQ=DAILY --count x", CLI_USAGE, "--count" },
        { "verify --bound 0", CLI_USAGE, "--bound takes a number of states from 1" },
    };

    check_lines(t, lines, ARRAY_LEN(lines));
    start_daemon(t);
    check_lines(t, lines, ARRAY_LEN(lines));
    LINES({ "journal task list --limit 0", CLI_USAGE, "--limit takes a number from 1 to 10000" },
          { "journal task list --limit x", CLI_USAGE, "--limit takes a number from 1 to 10000" });
    stop_daemon(t);
}

TEST(runs_are_listed_traced_and_replayed)
{
    const char *id;

    start_daemon(t);
    LINES({ "runs", CLI_DONE, "There are no runs yet." }, { "runs --json", CLI_DONE, "" },
          { "run 'good morning'", CLI_DONE, "" }, { "runs", CLI_DONE, "good morning" },
          { "runs --agent nobody", CLI_FAILED, "there is no agent" },
          { "trace 0000", CLI_FAILED, "there is no run" }, { "trace", CLI_USAGE, "" },
          { "replay 0000 --check", CLI_FAILED, "there is no run" },
          { "rerun 0000", CLI_FAILED, "there is no run" }, { "run", CLI_USAGE, "" },
          { "run ' '", CLI_USAGE, "the prompt is empty" },
          { "run hi --mode yolo", CLI_USAGE, "mode" },
          { "run hi --agent nobody", CLI_FAILED, "there is no agent" },
          { "run hi --thread none", CLI_FAILED, "there is no thread none" },
          { "search good morning", CLI_DONE, "good" }, { "search", CLI_USAGE, "" },
          { "search nothing-like-that", CLI_DONE, "nothing found" },
          { "trajectories export", CLI_DONE, "" },
          { "trajectories export --since yesterday", CLI_FAILED, "--since takes a time such as" },
          { "trajectories export --agent nobody", CLI_FAILED, "there is no agent" },
          { "trajectories export --out /nowhere/x", CLI_FAILED, "/nowhere" });
    id = member(t, run_line(t, "runs --json").out, "/runId");
    LINES({ arena_printf(&t->arena, "trace %.8s", id), CLI_DONE, "good morning" },
          { arena_printf(&t->arena, "replay %.8s --check", id), CLI_DONE, "" },
          { arena_printf(&t->arena, "rerun %.8s", id), CLI_DONE, "" });
    stop_daemon(t);
}

TEST(conversations_are_listed_named_and_put_away)
{
    start_daemon(t);
    LINES({ "threads list", CLI_DONE, "" }, { "run 'tea or coffee' --session s", CLI_DONE, "" },
          { "threads list", CLI_DONE, "tea or coffee" },
          { "threads show s --agent planner", CLI_DONE, "tea or coffee" },
          { "threads rename s Drinks --agent planner", CLI_DONE, "" },
          { "threads list", CLI_DONE, "Drinks" },
          { "threads list --query drinks", CLI_DONE, "Drinks" },
          { "threads list --query juice --json", CLI_DONE, "" },
          { "threads rm s --agent planner", CLI_DONE, "" },
          { "threads restore s --agent planner", CLI_DONE, "" },
          { "threads show s", CLI_FAILED, "does not say whose conversation it is" },
          { "threads show none --agent planner", CLI_FAILED, "none" },
          { "threads list --agent nobody", CLI_FAILED, "there is no agent" });
    stop_daemon(t);
}

TEST(the_inbox_is_empty_and_says_what_it_does_not_have)
{
    start_daemon(t);
    LINES({ "inbox", CLI_DONE, "" }, { "inbox --json", CLI_DONE, "" },
          { "inbox none", CLI_FAILED, "there is no inbox item" },
          { "inbox --grants", CLI_DONE, "" },
          { "inbox --revoke none", CLI_FAILED, "there is no grant" },
          { "inbox --grants --all", CLI_USAGE, "" },
          { "approve none", CLI_FAILED, "there is no inbox item" },
          { "reject none --reason no", CLI_FAILED, "there is no inbox item" },
          { "edit none", CLI_FAILED, "there is no terminal for an editor" },
          { "edit none --input {}", CLI_FAILED, "there is no inbox item" },
          { "edit none --input {", CLI_FAILED, "" },
          { "answer none yes", CLI_FAILED, "there is no inbox item" }, { "approve", CLI_USAGE, "" },
          { "answer none", CLI_USAGE, "" });
    stop_daemon(t);
}

TEST(models_are_added_listed_and_agreed_to)
{
    start_daemon(t);
    LINES(
        { "model add far --provider openai --base-url https://far.example/v1 --model big "
          "--secret far-key",
          CLI_DONE, "far" },
        { "model add far --provider openai --base-url https://far.example/v1", CLI_FAILED, "far" },
        { "model add near --provider magic", CLI_USAGE, "not `magic`" },
        { "model add near", CLI_FAILED, "\"provider\" is required" },
        { "model add Near! --provider offline", CLI_FAILED, "" },
        { "model add near --provider openai --base-url ftp://x", CLI_FAILED, "base_url" },
        { "model add near --provider openai --base-url http://127.0.0.1:1/v1 --price-input -1",
          CLI_FAILED, "price" },
        { "model list", CLI_DONE, "far" }, { "model list --json", CLI_DONE, "\"far\"" },
        { "model consent none", CLI_FAILED, "there is no model `none`" },
        { "model consent", CLI_USAGE, "" }, { "model consent far --yes", CLI_DONE, "far" },
        { "model consent far --withdraw", CLI_DONE, "" },
        { "model consent far --withdraw", CLI_FAILED, "" },
        { "model test none", CLI_FAILED, "none" }, { "model test far", CLI_DENIED, "agreed" },
        { "model test offline", CLI_DONE, "" });
    stop_daemon(t);
}

TEST(timers_are_made_listed_switched_and_removed)
{
    const char *id;

    start_daemon(t);
    id = member(t, run_line(t, "timer list --json").out, "/id"); /* that of the first Planner */
    LINES({ arena_printf(&t->arena, "timer rm %s", id), CLI_DONE, "" },
          { "timer list", CLI_DONE, "" },
          { "timer add FREQ=DAILY;BYHOUR=7 --zone Europe/Berlin --prompt 'Plan my day.'", CLI_DONE,
            "" },
          { "timer list", CLI_DONE, "Europe/Berlin" },
          { "timer add", CLI_USAGE, "a timer needs one of these" },
          { "timer add FREQ=DAILY --every 2h", CLI_USAGE, "a timer needs one of these" },
          { "timer add FREQ=SOMETIMES", CLI_FAILED, "SOMETIMES" },
          { "timer add eve FREQ=DAILY", CLI_USAGE, "whose it is says --agent" },
          { "timer add --every 0s", CLI_USAGE, "" },
          { "timer add --every soon", CLI_USAGE, "is no time such as 90m" },
          { "timer add --at never", CLI_FAILED, "never" },
          { "timer add FREQ=DAILY --zone Mars/Olympus", CLI_FAILED, "Mars/Olympus" },
          { "timer add FREQ=DAILY --missed perhaps", CLI_USAGE, "missed" },
          { "timer add FREQ=DAILY --cap x", CLI_USAGE, "give --missed all too" },
          { "timer add FREQ=DAILY --missed all --cap x", CLI_USAGE, "--cap takes a number" },
          { "timer add FREQ=DAILY --agent nobody", CLI_FAILED, "there is no agent" },
          { "timer next FREQ=DAILY --from 2026-03-28T02:30 --zone Europe/Berlin", CLI_DONE,
            "2026-03-29" },
          { "timer next FREQ=DAILY --from nonsense", CLI_FAILED, "nonsense" },
          { "timer next FREQ=DAILY --zone Nowhere", CLI_FAILED, "Nowhere" },
          { "timer next ''", CLI_FAILED, "empty" }, { "timer rm none", CLI_FAILED, "none" });
    id = member(t, run_line(t, "timer list --json").out, "/id");
    LINES({ arena_printf(&t->arena, "timer disable %s", id), CLI_DONE, "" },
          { arena_printf(&t->arena, "timer enable %s", id), CLI_DONE, "" },
          { arena_printf(&t->arena, "timer rm %s", id), CLI_DONE, "" },
          { arena_printf(&t->arena, "timer rm %s", id), CLI_FAILED, "timer" },
          { "report planner", CLI_DONE, "" }, { "report nobody", CLI_FAILED, "no agent" },
          { "report planner --scope ' '", CLI_USAGE, "--scope takes one of" });
    stop_daemon(t);
}

TEST(skills_are_added_listed_switched_and_removed)
{
    const char *dir = test_path(t, "brew"), *file = test_path(t, "brew/SKILL.md");
    static const char text[] = "---\nname: brew\ndescription: How to brew tea.\n---\nBoil water.\n";

    mkdir(dir, 0700);
    test_write_file(file, text, strlen(text));
    start_daemon(t);
    LINES({ arena_printf(&t->arena, "skill validate %s", dir), CLI_DONE, "brew" },
          { arena_printf(&t->arena, "skill validate %s /nowhere", file), CLI_FAILED, "" },
          { "skill validate", CLI_USAGE, "" },
          { arena_printf(&t->arena, "skill add %s", dir), CLI_DONE, "brew" },
          { arena_printf(&t->arena, "skill add %s", dir), CLI_FAILED, "brew" },
          { "skill add /nowhere", CLI_FAILED, "/nowhere" }, { "skill list", CLI_DONE, "brew" },
          { "skill show brew", CLI_DONE, "Boil water." }, { "skill show none", CLI_FAILED, "none" },
          { "skill disable brew", CLI_DONE, "" }, { "skill enable brew", CLI_DONE, "" },
          { "skill rm brew", CLI_DONE, "" }, { "skill rm brew", CLI_FAILED, "brew" },
          { "skill restore brew", CLI_DONE, "" });
    stop_daemon(t);
}
