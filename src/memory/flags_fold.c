/* Letters that are written as other characters and read as plain ones: full width, mathematical,
 * in circles or squares. Only what reads as a letter or digit of ASCII is folded.
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

char flag_fold(uint32_t code)
{
    if (code < 0x2102)
        return 0;
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
