/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * family: components that start and end one another. `member` is this program under another name; it waits in rcv(1)
 * for what to do. Arguments are not given to an initiated program in PVM 2, so it knows itself by its name.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <pvmuser.h>
#include "check.h"

enum { WHO = 2, ALL = 3, GO = 4, DIE = 5, PID = 6 };

static void gate_of(char *path)
{
    const char *home = getenv("HOME");

    sprintf(path, "%s/gate", home ? home : "/tmp");
}

/* Answers each message with what it is told; a member that finds the gate closed enrolls later. */
static int member(void)
{
    char gate[4096], name[33], asker[33];
    int type, instance, me, pid = (int)getpid();

    gate_of(gate);
    CHECK_SOON(access(gate, F_OK) == 0);
    me = enroll("member");
    CHECK(me >= 0);
    while ((type = rcv(-1)) != GO) {
        if (type == DIE)
            kill(getpid(), SIGKILL);
        CHECK_IS(rcvinfo(NULL, NULL, asker, &instance), PvmOk);
        CHECK_IS(whoami(name, &me), PvmOk);
        initsend();
        putnint(&me, 1);
        putnint(&pid, 1);
        putstring(name);
        CHECK_IS(vsnd(asker, instance, type), PvmOk);
    }
    return leave();
}

static void open_gate(int open_it)
{
    char gate[4096];

    gate_of(gate);
    if (open_it)
        CHECK(close(open(gate, O_CREAT | O_WRONLY, 0600)) == 0);
    else
        unlink(gate);
}

static void send_empty(int instance, int type)
{
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(snd("member", instance, type), PvmOk);
}

/* Waits for an answer and checks who gave it; returns the sender's instance. */
static int answer(int type, int *pid)
{
    char name[33], text[33];
    int instance, told, process;

    CHECK_IS(rcv(type), type);
    CHECK_IS(rcvinfo(NULL, NULL, name, &instance), PvmOk);
    CHECK_IS(getnint(&told, 1), PvmOk);
    CHECK_IS(getnint(&process, 1), PvmOk);
    CHECK_IS(getstring(text), PvmOk);
    CHECK(!strcmp(name, "member") && !strcmp(text, "member") && told == instance);
    if (pid)
        *pid = process;
    return instance;
}

static void numbers_are_given_before_they_enroll(void)
{
    open_gate(0);
    CHECK_IS(initiate("member", NULL), 0);
    CHECK_IS(initiate("member", "SUN4"), 1);
    CHECK_IS(initiate("member", "LINUX64"), 2);
    CHECK_IS(status("member", 2), 1);
    send_empty(1, WHO); /* arrives, though nobody has enrolled */
    send_empty(-1, ALL);
    open_gate(1);
    CHECK_IS(answer(WHO, NULL), 1);
}

static void all_of_a_name_are_reached(void)
{
    int i, seen = 0;

    for (i = 0; i < 3; i++)
        seen |= 1 << answer(ALL, NULL);
    CHECK_IS(seen, 7);
}

/* A member that is killed is no component any more; its number is given again, and messages reach the new one. */
static void a_killed_members_number_is_given_again(void)
{
    int pid = 0, other = 0;

    send_empty(1, PID);
    CHECK_IS(answer(PID, &pid), 1);
    send_empty(1, DIE); /* on its own host, whichever that is */
    CHECK_SOON(status("member", 1) == 0);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(snd("member", 1, WHO), PvmNoComp);
    CHECK_IS(vsnd("member", 1, WHO), PvmNoComp);
    CHECK_IS(terminate("member", 1), PvmNoComp);
    CHECK_IS(initiate("member", NULL), 1);
    send_empty(1, PID);
    CHECK_IS(answer(PID, &other), 1);
    CHECK(other != 0);
}

/* Nobody ever enrolls as this instance; the number does not stay taken. */
static void a_member_that_dies_before_it_enrolls_frees_its_number(void)
{
    open_gate(0);
    CHECK_IS(initiate("member", "RIOS"), 3);
    CHECK_IS(terminate("member", 3), PvmOk);
    CHECK_SOON(status("member", 3) == 0);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(snd("member", 3, WHO), PvmNoComp);
    CHECK_IS(initiate("member", NULL), 3);
    open_gate(1);
    send_empty(3, WHO);
    CHECK_IS(answer(WHO, NULL), 3);
}

static void ends_are_told(void)
{
    send_empty(0, GO);
    CHECK_SOON(status("member", 0) == 0);
    CHECK_IS(terminate("member", -1), PvmOk);
    CHECK_SOON(status("member", -1) == 0);
    CHECK_IS(snd("member", -1, WHO), PvmNoComp);
}

static void by_host(void)
{
    char name[256];

    CHECK(gethostname(name, sizeof name) == 0);
    CHECK_IS(initiateM("member", name), 0);
    CHECK_IS(initiatem("member", name), 1);
    send_empty(-1, GO);
    CHECK_SOON(status("member", -1) == 0);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');

    (void)argc;
    if (!strcmp(slash ? slash + 1 : argv[0], "member"))
        return member();
    CHECK_IS(enroll("family"), 0);
    numbers_are_given_before_they_enroll();
    all_of_a_name_are_reached();
    a_killed_members_number_is_given_again();
    a_member_that_dies_before_it_enrolls_frees_its_number();
    ends_are_told();
    by_host();
    open_gate(0);
    CHECK_IS(leave(), PvmOk);
    return 0;
}
