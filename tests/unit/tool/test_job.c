/* Jobs: started, ended, told once. */
#include "bed.h"

TEST(a_command_goes_to_the_hand_and_its_result_comes_back)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(bed_start(bed, "bash", "{\"command\":\"ls\"}", ""));
    ASSERT_TEXT(fake_hand_operation(fake_hand_waiting(bed->hand)), "bash");
    ASSERT_TEXT(fake_hand_arguments(fake_hand_waiting(bed->hand)), "{\"command\":\"ls\"}");
    ASSERT_EQ(bed->told, 0);
    fake_hand_answer(bed->hand, "{\"exit_code\":0,\"output\":\"a\\n\"}");
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_NONE);
    ASSERT_STR(bed->result.output, "{\"exit_code\":0,\"output\":\"a\\n\"}");
    ASSERT_STR(bed->result.taint, "command");
}

TEST(a_question_waits_for_a_person)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(
        bed_start(bed, "ask_user", "{\"question\":\"Which?\",\"choices\":[\"a\",\"b\"]}", ""));
    ASSERT_EQ(bed->told, 0);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->told, 1);
    ASSERT(bed->result.waits);
    ASSERT_STR(bed->result.question, "{\"question\":\"Which?\",\"choices\":[\"a\",\"b\"]}");
}
