/* Letters that are written as other characters and read as plain ones: full width, mathematical,
 * in circles or squares, small capitals, with accents. Only what reads as a letter or digit of
 * ASCII is folded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/flags_int.h"

/* Runs of characters in the order of the alphabet. */
static const struct {
    uint32_t first, last;
    char from; /* what the first reads as */
} runs[] = {
    { 0x249C, 0x24B5, 'a' },   { 0x24B6, 0x24CF, 'a' },   { 0x24D0, 0x24E9, 'a' },
    { 0xFF10, 0xFF19, '0' },   { 0xFF21, 0xFF3A, 'a' },   { 0xFF41, 0xFF5A, 'a' },
    { 0x1F130, 0x1F149, 'a' }, { 0x1F150, 0x1F169, 'a' }, { 0x1F170, 0x1F189, 'a' },
};

/* Those that mathematics had before it got alphabets of its own. */
static char letterlike(uint32_t code)
{
    static const struct {
        uint16_t code;
        char reads;
    } all[] = {
        { 0x2102, 'c' }, { 0x210A, 'g' }, { 0x210B, 'h' }, { 0x210C, 'h' }, { 0x210D, 'h' },
        { 0x210E, 'h' }, { 0x2110, 'i' }, { 0x2111, 'i' }, { 0x2112, 'l' }, { 0x2113, 'l' },
        { 0x2115, 'n' }, { 0x2119, 'p' }, { 0x211A, 'q' }, { 0x211B, 'r' }, { 0x211C, 'r' },
        { 0x211D, 'r' }, { 0x2124, 'z' }, { 0x2128, 'z' }, { 0x212A, 'k' }, { 0x212C, 'b' },
        { 0x212D, 'c' }, { 0x212F, 'e' }, { 0x2130, 'e' }, { 0x2131, 'f' }, { 0x2133, 'm' },
        { 0x2134, 'o' }, { 0x2139, 'i' },
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i].code == code)
            return all[i].reads;
    }
    return 0;
}

/* Letters with accents, U+00C0 to U+017F, by their base; '.' for those that have none. */
static char accented(uint32_t code)
{
    static const char base[] = "aaaaaa.ceeeeiiii" /* C0 */
                               ".nooooo.ouuuuy.." /* D0 */
                               "aaaaaa.ceeeeiiii" /* E0 */
                               ".nooooo.ouuuuy.y" /* F0 */
                               "aaaaaaccccccccdd" /* 100 */
                               "ddeeeeeeeeeegggg" /* 110 */
                               "gggghhhhiiiiiiii" /* 120 */
                               "ii..jjkkkllllll"
                               "l"                 /* 130 */
                               "lllnnnnnnnnnoooo"  /* 140 */
                               "oo..rrrrrrssssss"  /* 150 */
                               "ssttttttuuuuuuuu"  /* 160 */
                               "uuuuwwyyyzzzzzzs"; /* 170 */
    _Static_assert(sizeof(base) == 0x180 - 0xC0 + 1, "one for each");

    return base[code - 0xC0] == '.' ? 0 : base[code - 0xC0];
}

/* Small capitals, letters of phonetics and raised ones. */
static char phonetic(uint32_t code)
{
    static const struct {
        uint16_t code;
        char reads;
    } all[] = {
        { 0x0251, 'a' }, { 0x0261, 'g' }, { 0x0262, 'g' }, { 0x026A, 'i' }, { 0x0274, 'n' },
        { 0x0280, 'r' }, { 0x028F, 'y' }, { 0x0299, 'b' }, { 0x029C, 'h' }, { 0x029F, 'l' },
        { 0x02B0, 'h' }, { 0x02B2, 'j' }, { 0x02B3, 'r' }, { 0x02B7, 'w' }, { 0x02B8, 'y' },
        { 0x02E1, 'l' }, { 0x02E2, 's' }, { 0x02E3, 'x' }, { 0x1D00, 'a' }, { 0x1D04, 'c' },
        { 0x1D05, 'd' }, { 0x1D07, 'e' }, { 0x1D0A, 'j' }, { 0x1D0B, 'k' }, { 0x1D0D, 'm' },
        { 0x1D0F, 'o' }, { 0x1D18, 'p' }, { 0x1D1B, 't' }, { 0x1D1C, 'u' }, { 0x1D20, 'v' },
        { 0x1D21, 'w' }, { 0x1D22, 'z' }, { 0x1D43, 'a' }, { 0x1D47, 'b' }, { 0x1D48, 'd' },
        { 0x1D49, 'e' }, { 0x1D4D, 'g' }, { 0x1D4F, 'k' }, { 0x1D50, 'm' }, { 0x1D52, 'o' },
        { 0x1D56, 'p' }, { 0x1D57, 't' }, { 0x1D58, 'u' }, { 0x1D5B, 'v' }, { 0x1D9C, 'c' },
        { 0x1DA0, 'f' }, { 0x1DBB, 'z' }, { 0x2071, 'i' }, { 0x207F, 'n' }, { 0xA730, 'f' },
        { 0xA731, 's' },
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i].code == code)
            return all[i].reads;
    }
    return 0;
}

bool flag_combines(uint32_t code)
{
    return (code >= 0x300 && code <= 0x36F) || (code >= 0x1AB0 && code <= 0x1AFF) ||
           (code >= 0x1DC0 && code <= 0x1DFF) || (code >= 0x20D0 && code <= 0x20FF) ||
           (code >= 0xFE20 && code <= 0xFE2F);
}

char flag_fold(uint32_t code)
{
    if (code < 0xC0)
        return 0;
    if (code < 0x180)
        return accented(code);
    if (code < 0x2102 || code == 0xA730 || code == 0xA731)
        return phonetic(code);
    if (code <= 0x2139)
        return letterlike(code);
    if (code >= 0x1D400 && code <= 0x1D6A3) /* thirteen alphabets, capitals before small ones */
        return (char)('a' + (code - 0x1D400) % 26);
    if (code >= 0x1D7CE && code <= 0x1D7FF)
        return (char)('0' + (code - 0x1D7CE) % 10);
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        if (code >= runs[i].first && code <= runs[i].last)
            return (char)(runs[i].from + (char)(code - runs[i].first));
    }
    return 0;
}
