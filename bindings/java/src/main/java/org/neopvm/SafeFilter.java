// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.ObjectInputFilter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.UUID;

/**
 * What an object that comes in a message may be made of. For a text, a number or an array of such
 * nothing but that. For other types: the type itself, classes of its package, and those classes of
 * {@code java.base} that only hold what they are given ({@link Holders}), within limits. Others of
 * {@code java.base} work with what they read before anybody asks them to: a queue by priority
 * compares with a comparator that the message brings, and four kilobytes of such keep a computer
 * busy for years.
 *
 * <p>Tables that hash their keys come only where the type that is asked for is a map or a set. Five
 * kilobytes of sets of sets, ten in each and shared, keep a computer busy for years, as each level
 * is hashed once for each place that it stands in; no limit to sizes or to depth sees that.
 */
final class SafeFilter implements ObjectInputFilter {
    private static final int DEPTH_MAX = 20;
    private static final int ARRAY_MAX = 1_000_000;
    private static final int REFERENCES_MAX = 1_000_000;
    static final int BYTES_MAX = 16 << 20;

    /** Types without parts of other types, and what they inherit from. */
    private static final Set<Class<?>> PLAIN = Set.of(String.class, Boolean.class, Byte.class, Short.class,
            Character.class, Integer.class, Long.class, Float.class, Double.class, Number.class, UUID.class,
            BigInteger.class, BigDecimal.class);

    private final Class<?> wanted;
    private final boolean plain;
    private final boolean tables;
    /** The class that was refused; null if none was. */
    private String refused;

    SafeFilter(Class<?> wanted) {
        this.wanted = element(wanted);
        this.plain = isPlain(wanted);
        this.tables = Map.class.isAssignableFrom(wanted) || Set.class.isAssignableFrom(wanted)
                || wanted == Collection.class;
    }

    private static Class<?> element(Class<?> type) {
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        return element;
    }

    private static boolean isPlain(Class<?> type) {
        Class<?> element = element(type);
        return element.isPrimitive() || PLAIN.contains(element);
    }

    @Override
    public Status checkInput(FilterInfo info) {
        if (info.depth() > DEPTH_MAX || info.references() > REFERENCES_MAX || info.streamBytes() > BYTES_MAX
                || info.arrayLength() > ARRAY_MAX) {
            refused = "more than the limits allow";
            return Status.REJECTED;
        }
        Class<?> type = info.serialClass();
        if (type == null) {
            return Status.UNDECIDED;
        }
        boolean allowed = isPlain(type) || !plain && isKnown(type) && (tables || !isTable(element(type)));
        if (!allowed) {
            refused = "a " + type.getName();
        }
        return allowed ? Status.ALLOWED : Status.REJECTED;
    }

    /** The class that it has refused last. */
    String refused() {
        return refused;
    }

    private boolean isKnown(Class<?> type) {
        Class<?> element = element(type);
        if (element == wanted || element == CollSer.class) {
            return true;
        }
        Module java = Object.class.getModule();
        if (element.getModule() == java) {
            return Holders.has(element) || tables && isTable(element);
        }
        return element.getPackage() == wanted.getPackage() && element.getClassLoader() == wanted.getClassLoader();
    }

    /**
     * True for a class that may hash what it reads: not those that compare their keys, or know them
     * beforehand.
     */
    private static boolean isTable(Class<?> type) {
        if (EnumSet.class.isAssignableFrom(type) || type == EnumMap.class) {
            return false;
        }
        return Map.class.isAssignableFrom(type) && !SortedMap.class.isAssignableFrom(type)
                || Set.class.isAssignableFrom(type) && !SortedSet.class.isAssignableFrom(type)
                || type.getName().equals("java.util.CollSer");
    }

    /** The class to be read in the place of one: {@link CollSer} where tables are not wanted. */
    Class<?> instead(Class<?> type) {
        return !tables && type.getName().equals("java.util.CollSer") ? CollSer.class : type;
    }
}
