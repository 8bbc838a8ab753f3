// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds NeoPVM's library: in the folder (or as the file) of {@code -Dpvm.library}, then in {@code PVM_ROOT/lib}, then
 * where the loader looks. A library of another PVM is not taken. What is found stays loaded, and several class loaders
 * may find it.
 */
final class Library {
    private static final String FILE = "libpvm3.so.3";
    /** The {@code NEOPVM_INTERFACE} that {@link Calls} needs at least. */
    private static final int INTERFACE = 7;

    /** The library, or null with {@link #PROBLEM} saying why. */
    static final SymbolLookup LOOKUP;
    static final String PROBLEM;
    /** True if the user has named a place, so that not finding it there is an error. */
    static final boolean NAMED = System.getProperty("pvm.library") != null;

    static {
        List<String> problems = new ArrayList<>();
        LOOKUP = find(problems);
        PROBLEM = LOOKUP == null ? String.join("; ", problems) : null;
    }

    private Library() {}

    private static SymbolLookup find(List<String> problems) {
        for (String place : places()) {
            try {
                SymbolLookup lookup = place.contains("/")
                        ? SymbolLookup.libraryLookup(Path.of(place), Arena.global())
                        : SymbolLookup.libraryLookup(place, Arena.global());
                int have = interfaceOf(lookup);
                if (have >= INTERFACE) {
                    return lookup;
                }
                problems.add(place + (have == 0 ? " is not NeoPVM's" : " is too old, interface " + have));
            } catch (IllegalArgumentException | IllegalCallerException e) {
                problems.add(place + ": " + e.getMessage());
            }
        }
        return null;
    }

    private static List<String> places() {
        String named = System.getProperty("pvm.library");
        if (named != null) {
            Path path = Path.of(named);
            return List.of((Files.isDirectory(path) ? path.resolve(FILE) : path).toAbsolutePath().toString());
        }
        List<String> places = new ArrayList<>();
        String root = System.getenv("PVM_ROOT");
        if (root != null && !root.isEmpty()) {
            places.add(Path.of(root, "lib", FILE).toAbsolutePath().toString());
        }
        places.add(FILE);
        return places;
    }

    private static int interfaceOf(SymbolLookup lookup) {
        Optional<MemorySegment> function = lookup.find("neopvm_interface");
        if (function.isEmpty()) {
            return 0;
        }
        MethodHandle call =
                Linker.nativeLinker().downcallHandle(function.get(), FunctionDescriptor.of(ValueLayout.JAVA_INT));
        try {
            return (int) call.invokeExact();
        } catch (Throwable e) {
            return 0;
        }
    }
}
