/* What people say to the offline model, and what it asks for.
 *
 * SPDX-License-Identifier: MIT
 */
#include "offline_rig.h"

struct sentence {
    const char *said;
    const char *first; /* what the answer begins with */
};

#define LIST_HERE     "read_file {\"path\":\".\"}"
#define LIST_SRC      "read_file {\"path\":\"src"
#define READ(f)       "read_file {\"path\":\"" f "\"}"
#define RUN(c)        "bash {\"command\":\"" c "\"}"
#define GREP(p)       "search {\"pattern\":\"" p "\"}"
#define GREP_IN(p, g) "search {\"pattern\":\"" p "\",\"glob\":\"" g "\"}"
#define WORD(p)       "search {\"pattern\":\"" p "\",\"regex\":true}"
#define WORD_IN(p, g) "search {\"pattern\":\"" p "\",\"regex\":true,\"glob\":\"" g "\"}"
#define GLOB(g)       "search {\"glob\":\"" g "\"}"
#define WRITE(f, c)   "write_file {\"path\":\"" f "\",\"content\":\"" c "\"}"

static const struct sentence with_hands[] = {
    /* folders */
    { "what is in this folder?", LIST_HERE },
    { "What is in this folder", LIST_HERE },
    { "what's in this folder?", LIST_HERE },
    { "WHAT IS IN THIS FOLDER", LIST_HERE },
    { "Whats in the current directory?", LIST_HERE },
    { "Could you please tell me what is in this folder?", LIST_HERE },
    { "what is here?", LIST_HERE },
    { "What files are here?", LIST_HERE },
    { "what files are there", LIST_HERE },
    { "which files are in src?", LIST_SRC },
    { "what is in src", LIST_SRC },
    { "what is in the src folder?", LIST_SRC },
    { "what's inside src/", LIST_SRC },
    { "list", LIST_HERE },
    { "list files", LIST_HERE },
    { "list the files", LIST_HERE },
    { "list all files", LIST_HERE },
    { "list all the files in src", LIST_SRC },
    { "please list the src directory", LIST_SRC },
    { "show me the files", LIST_HERE },
    { "show me all the files in src", LIST_SRC },
    { "show me this folder", LIST_HERE },
    { "Show the contents of src, please.", LIST_SRC },
    { "show me what is in src", LIST_SRC },
    { "look around", LIST_HERE },
    { "look into src", LIST_SRC },
    { "explore this repository", LIST_HERE },
    { "what do we have here", LIST_HERE },
    { "what do you see?", LIST_HERE },
    { "tell me what is in src", LIST_SRC },
    /* files */
    { "show README.md", READ("README.md") },
    { "Show me README.md", READ("README.md") },
    { "show me the file README.md please", READ("README.md") },
    { "read src/main.c", READ("src/main.c") },
    { "read the file src/main.c.", READ("src/main.c") },
    { "open notes.txt", READ("notes.txt") },
    { "print the contents of notes.txt", READ("notes.txt") },
    { "what is in README.md?", READ("README.md") },
    { "what does README.md say?", READ("README.md") },
    { "can you read \"my notes.txt\"?", READ("my notes.txt") },
    { "display `a b.md`", READ("a b.md") },
    { "show the Makefile", LIST_HERE }, /* to see how it is spelled */
    { "cat LICENSE", LIST_HERE },
    { "show sub/Makefile", READ("sub/Makefile") },
    { "explain main.c", READ("main.c") },
    { "What does main.c do?", READ("main.c") },
    { "summarise README.md", READ("README.md") },
    { "translate README.md to German", READ("README.md") },
    { "describe this folder", LIST_HERE },
    { "review src/", LIST_SRC },
    { "explain quantum physics", "I did not understand that" },
    /* marks and kinds */
    { "find TODO", GREP("TODO") },
    { "find all todos", GREP("TODO") },
    { "is there a TODO anywhere?", GREP("TODO") },
    { "are there any todos", GREP("TODO") },
    { "find TODO.md", GLOB("**/TODO.md") },
    { "list the python files", GLOB("**/*.py") },
    { "show me all markdown files", GLOB("**/*.md") },
    { "show my c files", GLOB("**/*.c") },
    /* folders that go, texts that can't be made up */
    { "delete the docs folder", "bash {\"command\":\"rmdir -- docs\"}" },
    { "remove docs/", "bash {\"command\":\"rmdir -- docs/\"}" },
    { "write a poem about cheese to poem.txt", "I am rules and can't make up a text." },
    { "write an angry letter to a.txt", "I am rules and can't make up a text." },
    { "write \"a poem\" to poem.txt", WRITE("poem.txt", "a poem\\n") },
    { "write a line to poem.txt", WRITE("poem.txt", "a line\\n") },
    { "sudo rm -rf ~", "bash {\"command\":\"sudo rm -rf ~\"}" },
    { "head -n 3 a.txt", "bash {\"command\":\"head -n 3 a.txt\"}" },
    { "undo", "I can't undo." },
    { "undo that please", "I can't undo." },
    { "continue", "Nothing is under way" },
    { "go on", "Nothing is under way" },
    { "stop", "Nothing is under way on my side. Ctrl-C" },
    { "quit", "Nothing is under way on my side. Ctrl-C" },
    { "view config.yaml", READ("config.yaml") },
    /* searching */
    { "find TODO in src", GREP_IN("TODO", "src/**") },
    { "Find TODO in src.", GREP_IN("TODO", "src/**") },
    { "search for TODO in the src folder", GREP_IN("TODO", "src/**") },
    { "search for TODO", GREP("TODO") },
    { "grep TODO", GREP("TODO") },
    { "look for TODO", GREP("TODO") },
    { "look for \"not yet\" in docs", GREP_IN("not yet", "docs/**") },
    { "search src for TODO", GREP_IN("TODO", "src/**") },
    { "search in src for a.b", GREP_IN("a.b", "src/**") },
    { "search the code for foo(bar)", GREP("foo(bar)") },
    { "find TODO in main.c", GREP_IN("TODO", "main.c") },
    { "where is main defined?", WORD("\\\\bmain\\\\b") },
    { "where is the function parse_args defined?", WORD("\\\\bparse_args\\\\b") },
    { "Where is struct loop declared in src?", WORD_IN("\\\\bloop\\\\b", "src/**") },
    { "where is parse_args used", WORD("\\\\bparse_args\\\\b") },
    { "who calls parse_args?", WORD("\\\\bparse_args\\\\b") },
    { "which files contain TODO?", GREP("TODO") },
    { "what files mention Ada Lovelace", GREP("Ada Lovelace") },
    { "find all uses of strcpy", WORD("\\\\bstrcpy\\\\b") },
    { "is there any TODO in src", GREP_IN("TODO", "src/**") },
    { "find all python files", GLOB("**/*.py") },
    { "find all the *.c files", GLOB("**/*.c") },
    { "find c files", GLOB("**/*.c") },
    { "find files named main.c", GLOB("**/main.c") },
    { "find the file main.c", GLOB("**/main.c") },
    { "where is the file main.c?", GLOB("**/main.c") },
    { "where is main.c", GLOB("**/main.c") },
    { "find main.c", GLOB("**/main.c") },
    { "locate *.md", GLOB("**/*.md") },
    /* commands */
    { "run make test", RUN("make test") },
    { "Run make test.", RUN("make test") },
    { "please run make test for me", RUN("make test") },
    { "run `make test`", RUN("make test") },
    { "run \"make test\", please", RUN("make test") },
    { "execute ls -la", RUN("ls -la") },
    { "run the command uptime", RUN("uptime") },
    { "$ echo hi", RUN("echo hi") },
    { "git status", RUN("git status") },
    { "git log --oneline", RUN("git log --oneline") },
    { "make", RUN("make") },
    { "make test", RUN("make test") },
    { "npm run build", RUN("npm run build") },
    { "ls -la src", RUN("ls -la src") },
    { "./configure --prefix=/usr", RUN("./configure --prefix=/usr") },
    { "run find . -name '*.c'", RUN("find . -name '*.c'") },
    { "run ls .", RUN("ls .") },
    { "run ```\necho one\necho two\n```", RUN("echo one\\necho two") },
    { "can you run git diff?", RUN("git diff") },
    { "what time is it?", RUN("date") },
    { "what is the date today", RUN("date") },
    { "where am I?", RUN("pwd") },
    { "who am i", RUN("whoami") },
    { "how big is this folder?", RUN("du -sh .") },
    { "how much disk space is left?", RUN("df -h .") },
    { "how many files are there here?", RUN("find . -type f | wc -l") },
    { "how many lines are in main.c", RUN("wc -l -- main.c") },
    { "what changed?", RUN("git status --short") },
    { "show me the git log", RUN("git log --oneline -20") },
    { "show the diff", RUN("git diff") },
    { "which branch am i on?", RUN("git branch --show-current") },
    { "run the tests", LIST_HERE },
    { "run all tests please", LIST_HERE },
    { "build the project", LIST_HERE },
    { "compile it", LIST_HERE },
    { "do the tests pass?", LIST_HERE },
    /* tidying */
    { "tidy this folder", LIST_HERE },
    { "Tidy up this folder, please!", LIST_HERE },
    { "tidy up", LIST_HERE },
    { "please clean up my folder", LIST_HERE },
    { "clean this mess up", LIST_HERE },
    { "organise the files by type", LIST_HERE },
    { "Organize this directory", LIST_HERE },
    { "sort my files", LIST_HERE },
    { "tidy src", LIST_SRC },
    { "tidy the src folder", LIST_SRC },
    { "clean up src", LIST_SRC },
    /* changing */
    { "replace foo with bar in notes.txt", READ("notes.txt") },
    { "Replace \"foo bar\" with \"baz\" in the file notes.txt.", READ("notes.txt") },
    { "change foo to bar in src/main.c", READ("src/main.c") },
    { "in notes.txt replace foo with bar", READ("notes.txt") },
    { "write hello to hello.txt", WRITE("hello.txt", "hello\\n") },
    { "write \"hello world\" to hello.txt", WRITE("hello.txt", "hello world\\n") },
    { "save buy milk as list.txt", WRITE("list.txt", "buy milk\\n") },
    { "put 'a b' into the file x.txt", WRITE("x.txt", "a b\\n") },
    { "create a file called x.txt with the text hello there", WRITE("x.txt", "hello there\\n") },
    { "create an empty file named x.txt", WRITE("x.txt", "") },
    { "append bye to notes.txt", RUN("printf '%s\\\\n' bye >> notes.txt") },
    { "add the line \"it's late\" to notes.txt",
      RUN("printf '%s\\\\n' 'it'\\\\''s late' >> notes.txt") },
    { "create a folder called out", RUN("mkdir -p -- out") },
    { "make a new directory 'a b'", RUN("mkdir -p -- 'a b'") },
    { "rename a.txt to b.txt", RUN("mv -nv -- a.txt b.txt") },
    { "move the file a.txt into docs", RUN("mv -nv -- a.txt docs") },
    { "copy a.txt to b.txt", RUN("cp -nrv -- a.txt b.txt") },
    { "delete a.txt", RUN("rm -- a.txt") },
    { "remove the file -rf", RUN("rm -- '-rf'") },
    { "delete this folder", "I delete single files and empty folders by name" },
    /* talk */
    { "Hello", "Hello! I am Dormouse's built-in offline model: a set of rules" },
    { "hi there!", "Hello!" },
    { "Say hello in one short sentence.", "Hello!" },
    { "Good morning, dormouse", "Hello!" },
    { "hey", "Hello!" },
    { "How are you today?", "I am a set of rules" },
    { "who are you?", "I am Dormouse's built-in offline model" },
    { "are you a language model?", "I am Dormouse's built-in offline model" },
    { "are you ChatGPT", "I am Dormouse's built-in offline model" },
    { "help", "I am Dormouse's built-in offline model" },
    { "what can you do?", "I am Dormouse's built-in offline model" },
    { "which tools do you have?", "I am Dormouse's built-in offline model" },
    { "thanks!", "You are welcome." },
    { "Thank you very much", "You are welcome." },
    { "bye", "Goodbye." },
    { "yes", "All right." },
    { "OK", "All right." },
    /* not understood */
    { "colourless green ideas sleep furiously", "I did not understand that" },
    { "write me a poem about autumn", "I did not understand that" },
    { "?", "I did not understand that" },
    { "make me a sandwich", "I did not understand that" },
    { "\xff\xfe broken \x80 bytes", "I did not understand that" },
    { "was ist in diesem Ordner?", "I did not understand that" },
    /* no such tool here */
    { "list my tasks", "I can't do that here: to list tasks I need the tool" },
    { "remember that I like tea", "I can't do that here: to remember or forget something I need" },
    { "log 30 minutes on taxes", "I can't do that here" },
};

static const struct sentence with_journal[] = {
    { "list my tasks", "list_tasks_in_scope {}" },
    { "show me all tasks", "list_tasks_in_scope {}" },
    { "what are my tasks?", "list_tasks_in_scope {}" },
    { "What do I have to do today?", "list_tasks_in_scope {}" },
    { "what should i do next", "list_tasks_in_scope {}" },
    { "what is on my list?", "list_tasks_in_scope {}" },
    { "tasks", "list_tasks_in_scope {}" },
    { "add a task to call Ada", "list_allowed_categories {}" },
    { "create a new task called Write the report", "list_allowed_categories {}" },
    { "remind me to water the plants", "list_allowed_categories {}" },
    { "todo: to buy milk", "list_allowed_categories {}" },
    { "add buy milk to my list", "list_allowed_categories {}" },
    { "mark taxes as done", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "mark the task Tax Report as finished", "resolve_task_reference {\"query\":\"Tax Report\"}" },
    { "finish task taxes", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "log 30 minutes on taxes", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "Log 2 hours for the tax report", "resolve_task_reference {\"query\":\"tax report\"}" },
    { "I worked 1h30m on taxes", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "I spent half an hour on taxes.", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "log a 45 minute run", "resolve_task_reference {\"query\":\"run\"}" },
    { "log banana on taxes", "I did not understand how long" },
    { "log 99 hours on taxes", "I did not understand how long" },
    { "I did the shopping at home", "resolve_task_reference {\"query\":\"shopping at home\"}" },
    { "I did 20 minutes of yoga", "resolve_task_reference {\"query\":\"yoga\"}" },
    { "start a timer for taxes", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "stop the timer", "stop_task_timer {}" },
    { "set the due date of taxes to tomorrow", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "move the taxes to friday", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "postpone taxes until monday", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "move a.txt to friday", "I can't do that here: to run commands" },
    { "set the priority of taxes to high", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "add receipts to the checklist of taxes", "resolve_task_reference {\"query\":\"taxes\"}" },
    { "remember that I like tea", "read_memory {\"path\":\"knowledge/notes.md\"}" },
    { "Please remember: the door code is 4711", "read_memory {\"path\":\"knowledge/notes.md\"}" },
    { "keep in mind that Ada is on holiday", "read_memory {\"path\":\"knowledge/notes.md\"}" },
    { "what do you remember about tea?", "read_memory {\"path\":\"knowledge/notes.md\"}" },
    { "what do you know", "read_memory {\"path\":\"knowledge/notes.md\"}" },
    { "show me your notes", "read_memory {\"path\":\"knowledge/notes.md\"}" },
    { "forget about tea", "read_memory {\"path\":\"knowledge/notes.md\"}" },
    { "what is in this folder?", "I can't do that here: to run commands I need the tool \"bash\"" },
    { "run make", "I can't do that here" },
    { "replace a with b in c.txt", "I can't do that here: to edit files" },
    { "write a to c.txt", "I can't do that here: to write files" },
    { "show README.md", "I can't do that here" },
};

static void check(struct test *t, const struct sentence *s, const struct model_tool *tools,
                  size_t n)
{
    const char *answer = rig_ask(t, tools, n, s->said);

    if (strncmp(answer, s->first, strlen(s->first)) == 0)
        test_case_passed();
    else
        test_case_failed("\"%s\" ->\n  %s\nexpected\n  %s", s->said, answer, s->first);
}

TEST(offline_understands_what_people_say_about_files_and_commands)
{
    for (size_t i = 0; i < ARRAY_LEN(with_hands); i++)
        check(t, &with_hands[i], rig_hands, rig_hands_count);
}

TEST(offline_understands_what_people_say_about_tasks_time_and_memory)
{
    for (size_t i = 0; i < ARRAY_LEN(with_journal); i++)
        check(t, &with_journal[i], rig_journal, rig_journal_count);
}

TEST(offline_says_plainly_what_it_lacks_when_it_has_no_tools)
{
    for (size_t i = 0; i < ARRAY_LEN(with_hands); i++) {
        const char *answer = rig_ask(t, NULL, 0, with_hands[i].said);

        if (strchr(answer, '{') && !strstr(with_hands[i].said, "done"))
            FAIL("\"%s\" without tools -> %s", with_hands[i].said, answer);
    }
    ASSERT_CONTAINS(rig_ask(t, NULL, 0, "what is in this folder?"), "given no tools at all");
    ASSERT_CONTAINS(rig_ask(t, NULL, 0, "Hello"), "I can only talk");
}

TEST(offline_lists_with_the_shell_when_search_takes_no_glob)
{
    const struct model_tool tools[] = {
        { STR("bash"), STR(""), STR("{\"type\":\"object\",\"properties\":{\"cmd\":{}}}") },
        { STR("search"), STR(""), STR("{\"type\":\"object\",\"properties\":{\"query\":{}}}") },
    };

    ASSERT_TEXT(rig_ask(t, tools, 2, "what is in this folder?"),
                "bash {\"cmd\":\"ls -A -p -- .\"}");
    ASSERT_TEXT(rig_ask(t, tools, 2, "search for a.b"), "search {\"query\":\"a\\\\.b\"}");
    ASSERT_TEXT(rig_ask(t, tools, 1, "find TODO in src"),
                "bash {\"cmd\":\"grep -rnI -F -e TODO -- src\"}");
    ASSERT_TEXT(rig_ask(t, tools, 1, "show \"a b.txt\""), "bash {\"cmd\":\"cat -- 'a b.txt'\"}");
    ASSERT_TEXT(rig_ask(t, tools, 1, "find all c files"), "bash {\"cmd\":\"find . -name '*.c'\"}");
}

TEST(offline_says_which_required_member_it_can_not_fill)
{
    const struct model_tool odd[] = {
        { STR("bash"), STR(""),
          STR("{\"type\":\"object\",\"required\":[\"command\",\"ticket\"],"
              "\"properties\":{\"command\":{},\"ticket\":{}}}") },
        { STR("read_file"), STR(""), STR("{\"properties\":{\"document\":{}}}") },
        { STR("write_file"), STR(""), STR("not json") },
    };

    ASSERT_CONTAINS(rig_ask(t, odd, 3, "run make"), "it also needs \"ticket\"");
    ASSERT_CONTAINS(rig_ask(t, odd, 3, "show a.txt"), "no place for what I would pass on");
    ASSERT_TEXT(rig_ask(t, odd, 3, "write a to b.txt"),
                "write_file {\"path\":\"b.txt\",\"content\":\"a\\n\"}");
}
