/* flags: -std=gnu99 */
/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The twins of Fortran's calls, whose names gfortran cannot spell: all are there, and those that need no partner work. */
#include "check.h"

#define EACH_TWIN(DO) \
    DO(_attachcube_) \
    DO(_cprobe_) \
    DO(_cprobex_) \
    DO(_crecv_) \
    DO(_crecvx_) \
    DO(_csend_) \
    DO(_csendrecv_) \
    DO(_dclock_) \
    DO(_flick_) \
    DO(_flushmsg_) \
    DO(_gcol_) \
    DO(_gcolx_) \
    DO(_gdhigh_) \
    DO(_gdlow_) \
    DO(_gdprod_) \
    DO(_gdsum_) \
    DO(_getcube_) \
    DO(_giand_) \
    DO(_gihigh_) \
    DO(_gilow_) \
    DO(_gior_) \
    DO(_giprod_) \
    DO(_gisum_) \
    DO(_gixor_) \
    DO(_gland_) \
    DO(_glor_) \
    DO(_gopf_) \
    DO(_gsendx_) \
    DO(_gshigh_) \
    DO(_gslow_) \
    DO(_gsprod_) \
    DO(_gssum_) \
    DO(_gsync_) \
    DO(_hrecv_) \
    DO(_hrecvx_) \
    DO(_hsend_) \
    DO(_hsendrecv_) \
    DO(_infocount_) \
    DO(_infonode_) \
    DO(_infopid_) \
    DO(_infoptype_) \
    DO(_infotype_) \
    DO(_iprobe_) \
    DO(_iprobex_) \
    DO(_irecv_) \
    DO(_irecvx_) \
    DO(_isend_) \
    DO(_isendrecv_) \
    DO(_killcube_) \
    DO(_killproc_) \
    DO(_led_) \
    DO(_load_) \
    DO(_masktrap_) \
    DO(_mclock_) \
    DO(_msgcancel_) \
    DO(_msgdone_) \
    DO(_msgignore_) \
    DO(_msgmerge_) \
    DO(_msgwait_) \
    DO(_myhost_) \
    DO(_mynode_) \
    DO(_mypid_) \
    DO(_myptype_) \
    DO(_nodedim_) \
    DO(_numnodes_) \
    DO(_relcube_) \
    DO(_setpid_) \
    DO(_setptype_) \
    DO(_waitall_) \
    DO(_waitcube_) \
    DO(_waitone_)

#define DECLARE(name) extern int name();
#define ADDRESS(name) (void (*)())name,
EACH_TWIN(DECLARE)
static void (*const twins[])() = {EACH_TWIN(ADDRESS)};

int main(void)
{
    int me = _mynode_(), all = _numnodes_(), one = 1, eight = 8, nobody = all + 1, minus = -1, work, id, got = 0;
    for (unsigned at = 0; at < sizeof twins / sizeof *twins; at++)
        CHECK(twins[at] != NULL);
    CHECK(me >= 0 && _myhost_() == all);
    CHECK(_csend_(&one, &got, &eight, &nobody, &one) == -1);
    CHECK(_crecv_(&one, &got, &minus) == -1);
    CHECK(_csend_(&one, &eight, &one, &me, &one) == 0 && _iprobe_(&one) == 1);
    id = _irecv_(&one, &got, &eight);
    CHECK(id > 0 && _msgwait_(&id) == 0 && got == 8 && _msgwait_(&id) == -1 && _infocount_() == 1);
    CHECK(_gisum_(&one, &one, &work) == 0 && one == all);
    CHECK(_gsync_() == 0);
    if (me == 0)
        printf("ok\n");
    return 0;
}
