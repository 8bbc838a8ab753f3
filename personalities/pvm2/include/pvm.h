/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* pvm.h - the other name under which programs know pvmuser.h; it spells initiateM as initiatem. */
#ifndef NEOPVM_PVM_H
#define NEOPVM_PVM_H

#include "pvmuser.h"

#endif /* NEOPVM_PVM_H */
