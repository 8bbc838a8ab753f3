/*
 * A search in a database: a master reads records and never has more than a watermark of them in the space; workers
 * compare them with a target. Arguments: records, workers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIGH 12
#define LOW 4
#define MOST 128

static int record(int number, char *text)
{
    int i, length = 20 + number * 7 % 60;
    for (i = 0; i < length; i++)
        text[i] = "acgt"[(number * 31 + i * i * 17 + i / 3) % 4];
    text[length] = 0;
    return length;
}

/* Length of the longest common part. */
static int compare(const char *a, const char *b)
{
    int best = 0, i, j, k;
    for (i = 0; a[i]; i++)
        for (j = 0; b[j]; j++) {
            for (k = 0; a[i + k] && a[i + k] == b[j + k]; k++)
                ;
            if (k > best)
                best = k;
        }
    return best;
}

static int worker(void)
{
    char target[MOST], text[MOST];
    int number, length, done = 0;
    rd("target", ?target);
    for (;;) {
        in("record", ?number, ?text:length);
        if (number < 0)
            return done;
        text[length] = 0;
        out("score", number, compare(target, text));
        done++;
    }
}

int real_main(int argc, char **argv)
{
    int records = atoi(argv[1]), workers = atoi(argv[2]), sent = 0, got = 0, most = 0, best = 0, wanted = 0;
    int i, number, score, done, sum = 0;
    char target[MOST], text[MOST];
    (void)argc;
    record(1000, target);
    out("target", target);
    for (i = 0; i < workers; i++)
        eval("worker", worker());
    while (got < records) {
        while (sent < records && sent - got < HIGH) {
            int length = record(sent, text);
            score = compare(target, text);
            if (score > wanted)
                wanted = score;
            out("record", sent++, text:length);
        }
        if (sent - got > most)
            most = sent - got;
        do {
            in("score", ?number, ?score);
            if (score > best)
                best = score;
            got++;
        } while (got < sent && (sent - got > LOW || sent == records));
    }
    for (i = 0; i < workers; i++)
        out("record", -1, text:0);
    for (i = 0; i < workers; i++) {
        in("worker", ?done);
        sum += done;
    }
    i = best != wanted || sum != records || most > HIGH;
    printf("%s, best %d of %d records, at most %d in the space\n", i ? "wrong" : "ok", best, sum, most);
    return i;
}
