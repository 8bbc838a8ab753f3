/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Or-ed to a message type: what the message is made of. Nothing is converted: all hosts lay data out alike. */
#ifndef NEOPVM_MSGTYPESC_H
#define NEOPVM_MSGTYPESC_H

#define MSGDBL 65536
#define MSGINT 131072
#define MSGCHR 262144

#endif
