// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Set;

/**
 * Classes of {@code java.base} whose objects, while they are read from a stream, do no more than to
 * take what is in it: no comparing, no hashing, no code that the stream names, no work that grows
 * faster than the stream.
 */
final class Holders {
    /** Of {@code java.time} all: values, and what stands for them in a stream. */
    private static final Set<String> PACKAGES = Set.of("java.time", "java.time.chrono", "java.time.temporal",
            "java.util.concurrent.atomic", "java.util.concurrent.locks");

    private static final Set<String> NAMES = Set.of("java.lang.Object", "java.lang.Enum", "java.lang.StackTraceElement",
            "java.lang.String$CaseInsensitiveComparator", "java.util.Collections$ReverseComparator",
            "java.util.concurrent.ConcurrentHashMap$Segment", "java.math.MathContext", "java.io.File", "java.net.URI", "java.net.InetAddress", "java.net.Inet4Address",
            "java.net.Inet6Address", "java.net.InetSocketAddress", "java.util.ArrayList", "java.util.LinkedList",
            "java.util.ArrayDeque", "java.util.Vector", "java.util.Stack", "java.util.BitSet", "java.util.Date",
            "java.util.Locale", "java.util.Currency", "java.util.TreeMap", "java.util.TreeSet", "java.util.EnumMap",
            "java.util.EnumSet", "java.util.EnumSet$SerializationProxy", "java.util.RegularEnumSet",
            "java.util.JumboEnumSet", "java.util.Arrays$ArrayList",
            "java.util.AbstractMap$SimpleEntry", "java.util.AbstractMap$SimpleImmutableEntry", "java.util.Random",
            "java.util.concurrent.ArrayBlockingQueue", "java.util.concurrent.ConcurrentLinkedDeque",
            "java.util.concurrent.ConcurrentLinkedQueue", "java.util.concurrent.CopyOnWriteArrayList",
            "java.util.concurrent.LinkedBlockingDeque", "java.util.concurrent.LinkedBlockingQueue");

    /**
     * How the names of wrappers begin that {@link java.util.Collections} puts around lists and
     * collections.
     */
    private static final Set<String> WRAPPERS = Set.of("Empty", "Singleton", "Unmodifiable", "Synchronized");

    private Holders() {}

    /**
     * Also true for an interface: it stands for the elements of an array, and has no objects of its
     * own.
     */
    static boolean has(Class<?> type) {
        String name = type.getName();
        return NAMES.contains(name) || PACKAGES.contains(type.getPackageName()) || Throwable.class.isAssignableFrom(type)
                || Enum.class.isAssignableFrom(type) || isWrapper(name) || type.isInterface();
    }

    private static boolean isWrapper(String name) {
        String outer = "java.util.Collections$";
        // The second are what lists of List.of become.
        return name.startsWith("java.util.ImmutableCollections$") || name.startsWith(outer) && WRAPPERS.stream().anyMatch(wrapper -> name.startsWith(wrapper, outer.length()));
    }
}
