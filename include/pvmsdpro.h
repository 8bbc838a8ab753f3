/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pvmsdpro.h - messages between daemons and the tasks that take over a part of their work.
 *
 * hoster            starts daemons on further hosts             pvm_reg_hoster()
 * tasker            starts the tasks of its host                pvm_reg_tasker()
 * resource manager  handles the requests of its host's tasks    pvm_reg_rm()
 *                   that concern hosts and tasks
 *
 * All of them first call pvm_setopt(PvmResvTids, 1) and pack in PvmDataDefault. They send the answer to
 * the sender of the request (0x80000000 is the daemon of their own host) and copy the request's wait id
 * into it (pvm_getminfo, pvm_setminfo). The fields are those of PVM 3.4.6, in this order:
 *
 *   SM_STHOST     int n, then n times: int tid, string start options, string [user@]host, string
 *                 command, string (empty: PVM's command for Windows), string PVM_VMID
 *   SM_STHOSTACK  int n, then n times: int tid as asked, string the line that the started daemon
 *                 wrote, or the name of a result such as "PvmCantStart"
 *   SM_STTASK     int tid, int spawn flags, string path, int n, n strings (arguments with the
 *                 program's), int n, n strings (environment), int number of the task in its
 *                 spawn call, int how many, int how many; there is no answer: the new task enrols
 *                 and has the PVMEPID of this environment in its own
 *   SM_TASKX      int tid, int status as of wait(), then int seconds and microseconds of user
 *                 time, int seconds and microseconds of system time
 *   SM_CONFIG     nothing; answered by int n, int formats, n hosts: int tid, string name, string
 *                 architecture, int speed, int data signature
 *   SM_TASK       int host, task or 0; answered by int 0, then for each: int tid, int parent, int
 *                 host, int flags, string program, int process
 *   SM_SPAWN      string file, int flags, string where, int count, int n, n strings (arguments),
 *                 int tid, context and tag of the output, int tid, context and tag of traces,
 *                 int n, n strings (environment); answered by int n, n ints: tids or codes
 *   SM_ADDHOST    int n, n strings; answered by int n, int formats, n hosts, with a code in place
 *                 of the tid of a host that failed
 *   SM_DELHOST    int n, n strings; answered by int n, n codes
 *   SM_NOTIFY     int kind, int context, int tag, int n, n tids (-1 and none for PvmHostAdd);
 *                 not answered: the manager sends the notices
 *   SM_SCHED      nothing; answered by int code; 0 lets another manager register
 *   SM_EXEC       int parent, string file, int flags, int count, int n, n strings (arguments), six
 *                 ints as in SM_SPAWN, int n, n strings (environment), int number of the first,
 *                 int how many in all; answered with SM_EXECACK: int n, n ints
 *   SM_ADD        as SM_ADDHOST; answered with SM_ADDACK
 *   SM_EXECACK    without a request: int 1, int tid of a task of this host that has enrolled
 *   SM_HOSTX      int id of the daemon of a host that has left
 */
#ifndef NEOPVM_PVMSDPRO_H
#define NEOPVM_PVMSDPRO_H

#define SDPROTOCOL 4302

#define SM_FIRST ((int)0x80040001)
#define SM_SPAWN (SM_FIRST + 0)     /* from a task: its pvm_spawn */
#define SM_EXEC (SM_FIRST + 1)      /* to a daemon: start these tasks */
#define SM_EXECACK (SM_FIRST + 2)   /* its answer */
#define SM_TASK (SM_FIRST + 3)      /* from a task: its pvm_tasks */
#define SM_CONFIG (SM_FIRST + 4)    /* from a task: its pvm_config */
#define SM_ADDHOST (SM_FIRST + 5)   /* from a task: its pvm_addhosts */
#define SM_DELHOST (SM_FIRST + 6)   /* from a task: its pvm_delhosts */
#define SM_ADD (SM_FIRST + 7)       /* to the first daemon: add these hosts */
#define SM_ADDACK (SM_FIRST + 8)    /* its answer */
#define SM_NOTIFY (SM_FIRST + 9)    /* from a task: its pvm_notify */
#define SM_TASKX (SM_FIRST + 10)    /* a task ended (to the manager; from a tasker to its daemon) */
#define SM_HOSTX (SM_FIRST + 11)    /* a host left */
#define SM_HANDOFF (SM_FIRST + 12)  /* another manager takes over */
#define SM_SCHED (SM_FIRST + 13)    /* from a task: its pvm_reg_rm */
#define SM_STHOST (SM_FIRST + 14)   /* to a hoster: start daemons on these hosts */
#define SM_STHOSTACK (SM_FIRST + 15)/* its answer */
#define SM_STTASK (SM_FIRST + 16)   /* to a tasker: start this task */
#define SM_LAST SM_STTASK

#endif /* NEOPVM_PVMSDPRO_H */
