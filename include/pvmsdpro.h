/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pvmsdpro.h - messages between daemons and the tasks that take over one of their jobs.
 *
 * hoster            starts daemons on further hosts             pvm_reg_hoster()
 * tasker            starts the tasks of its host                pvm_reg_tasker()
 * resource manager  answers the requests of tasks for hosts     pvm_reg_rm()
 *
 * All of them first call pvm_setopt(PvmResvTids, 1), pack in PvmDataDefault, answer the sender of
 * the request, and copy its wait id (pvm_getminfo, pvm_setminfo) into the answer.
 *
 *   SM_STHOST     int n, then n times: int tid, string start options, string [user@]host,
 *                 string command
 *   SM_STHOSTACK  until the end: int tid as asked, string the line that the started daemon wrote,
 *                 or the name of a result such as "PvmCantStart"
 *   SM_STTASK     int tid, int spawn flags, string path, int n, n strings (arguments), int n,
 *                 n strings (environment); answered only by the task's own enrolment
 *   SM_TASKX      int tid, int status as of wait(), then int seconds and microseconds of user
 *                 time, int seconds and microseconds of system time
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
