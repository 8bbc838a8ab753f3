// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * NeoPVM for Java. As a module of its own it brings {@code jdk.net}, whose options of sockets tell who listens at the other
 * end: a program with modules would be without it.
 */
module org.neopvm {
    requires jdk.net;

    exports org.neopvm;
    exports org.neopvm.engine;
    exports pbj;
    exports PBJ;
}
