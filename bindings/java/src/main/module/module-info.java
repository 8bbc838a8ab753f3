// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * NeoPVM for Java. The module requires {@code jdk.net}, whose socket options tell which user is at
 * the other end of a connection; a modular program would not have it otherwise.
 */
module org.neopvm {
    requires jdk.net;

    exports org.neopvm;
    exports org.neopvm.engine;
    exports jpvm;
    exports pbj;
    exports PBJ;
}
