// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Reads what {@code java.util.CollSer} has written: the lists of {@code List.of}. That class also
 * stands for {@code Set.of} and {@code Map.of}, which no filter can tell apart; this one refuses
 * them. Java takes a class of this name and number in the place of the other.
 */
final class CollSer implements Serializable {
    private static final long serialVersionUID = 6309168927139932177L;
    private static final int LIST = 1;
    private static final int LIST_WITH_NULLS = 4;
    private static final int KIND_MASK = 0xff;

    private int tag;
    private transient List<Object> items;

    private CollSer() {}

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
        in.defaultReadObject();
        int kind = tag & KIND_MASK;
        if (kind != LIST && kind != LIST_WITH_NULLS) {
            throw new InvalidObjectException("REJECTED: a set or a map, which would hash what it reads");
        }
        int count = in.readInt();
        if (count < 0) {
            throw new InvalidObjectException("a list of " + count);
        }
        items = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            items.add(in.readObject());
        }
    }

    private Object readResolve() throws InvalidObjectException {
        boolean nulls = items.stream().anyMatch(item -> item == null);
        if (nulls && (tag & KIND_MASK) == LIST) {
            throw new InvalidObjectException("a list without nulls that has some");
        }
        return nulls ? Collections.unmodifiableList(items) : List.copyOf(items);
    }
}
