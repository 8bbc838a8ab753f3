/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the shared part keeps to itself: its files among each other, and nas_common.f90. */
#ifndef NAS_INTERNAL_H
#define NAS_INTERNAL_H

/* Tags from here on are the shared part's; a program uses 0 to 8999. */
enum { TAG_START = 9000, TAG_LOST, TAG_REDUCE, TAG_SPREAD, TAG_DONE, TAG_GO, TAG_COUNTS };

enum { MOST_TASKS = 1024 };

struct nas_traffic {
    double seconds[2]; /* in sending and in receiving calls */
    double messages, bytes;
};

struct nas_own {
    int tids[MOST_TASKS + 1]; /* of rank r at r+1; of the master at 0 */
    int leaving;              /* the answer is out: a task that ends is no loss any more */
    int wrong;                /* exit status */
    int json;
    int direct;
    int mastered;             /* there is a master */
    char name[8];
    struct nas_traffic traffic;
};
extern struct nas_own nas_own;

int nas_tid(int rank);
void nas_fail_text(const char *text);
void nas_count_send(double began, double bytes);
void nas_count_receive(double began);
int nas_rank_of(int tid);
void nas_check(int answer, const char *call);
void nas_watch(void);
void nas_abandon(void);
#endif
