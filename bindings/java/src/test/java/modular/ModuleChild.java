// SPDX-License-Identifier: MIT OR Apache-2.0
package modular;

import org.neopvm.Pvm;

/** Connects in a Java that has only the modules that the library asks for ({@code SessionTest}). */
public final class ModuleChild {
    private ModuleChild() {}

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            pvm.message().put(1).to(pvm.self(), 1);
            if (pvm.receive(pvm.self(), 1).getInt() == 1 && Pvm.class.getModule().isNamed()) {
                System.out.println("all is well");
            }
        }
    }
}
