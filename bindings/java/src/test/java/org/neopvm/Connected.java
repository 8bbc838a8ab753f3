// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests of which each has a connection of its own. */
abstract class Connected {
    /** Of this test, closed behind it. */
    Pvm pvm;

    @BeforeEach
    void connect() {
        pvm = Machine.connect();
    }

    @AfterEach
    void close() {
        pvm.close();
    }
}
