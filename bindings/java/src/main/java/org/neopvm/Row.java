// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.List;

/**
 * A tuple that was found: its values, and what it is.
 *
 * @param values the fields as Java's objects, see {@link FieldType}
 * @param types their types; that of an array is the type of its items
 * @param tries how often a claim of this tuple came back before
 */
public record Row(List<Object> values, List<FieldType> types, int tries) {
    /** Returns the value of a field, counted from 0. */
    public Object get(int field) {
        return values.get(field);
    }

    /** Returns the value of a field of type int. */
    public int getInt(int field) {
        return (Integer) values.get(field);
    }

    /** Returns the value of a field of type long, or of another type that a {@link Long} stands for. */
    public long getLong(int field) {
        return (Long) values.get(field);
    }

    /** Returns the value of a field of type double. */
    public double getDouble(int field) {
        return (Double) values.get(field);
    }

    /** Returns the value of a field of type text. */
    public String getString(int field) {
        return (String) values.get(field);
    }
}
