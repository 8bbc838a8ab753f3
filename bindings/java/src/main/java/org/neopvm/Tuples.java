// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Tuples as they lie in messages; {@code crates/pvm-tuples/src/tuple.rs} draws it. */
final class Tuples {
    private static final int HEAD = 16;
    private static final int FIELD = 16;
    private static final int ALIGNMENT = 16;
    private static final int FIELDS_MAX = 255;

    private Tuples() {}

    /** Numbers in little-endian order, one behind the other. */
    static final class Bytes extends ByteArrayOutputStream {
        Bytes u8(int value) {
            write(value);
            return this;
        }

        Bytes u16(int value) {
            return u8(value).u8(value >> 8);
        }

        Bytes u32(int value) {
            return u16(value).u16(value >> 16);
        }

        Bytes u64(long value) {
            return u32((int) value).u32((int) (value >> 32));
        }

        Bytes bytes(byte[] bytes) {
            writeBytes(bytes);
            return this;
        }

        /** Bytes behind their number. */
        Bytes tuple(byte[] tuple) {
            return u64(tuple.length).bytes(tuple);
        }

        void fill() {
            while (size() % ALIGNMENT != 0) {
                write(0);
            }
        }
    }

    /** The tuple of some values, or the template where some are formals. */
    static byte[] encode(Object... values) {
        Object[] all = values.length == 1 && values[0] instanceof Record record ? fields(record) : values;
        if (all.length == 0 || all.length > FIELDS_MAX) {
            throw new PvmException(Code.BAD_PARAM, "a tuple of " + all.length + " fields; it has 1 to " + FIELDS_MAX);
        }
        Bytes out = new Bytes();
        out.u8(all.length).bytes(new byte[HEAD - 1]);
        List<byte[]> behind = new ArrayList<>();
        for (Object value : all) {
            Field field = Field.from(value);
            head(out, field);
            if (field.data != null && !isInline(field.type, field.isArray)) {
                behind.add(field.data);
            }
        }
        for (byte[] data : behind) {
            out.bytes(data).fill();
        }
        return out.toByteArray();
    }

    private static boolean isInline(FieldType type, boolean isArray) {
        return type.hasShape() && !isArray && type.size() <= Long.BYTES;
    }

    private static void head(Bytes out, Field field) {
        out.u8(field.type.number()).u8(field.isArray ? 1 : 0).u8(field.data == null ? 1 : 0).bytes(new byte[5]);
        if (field.data == null) {
            out.u64(field.size);
        } else if (isInline(field.type, field.isArray)) {
            out.bytes(java.util.Arrays.copyOf(field.data, Long.BYTES));
        } else {
            out.u64(field.data.length / field.type.size());
        }
    }

    /** The values of a tuple. */
    static Row decode(ByteBuffer tuple, int tries) {
        tuple.order(ByteOrder.LITTLE_ENDIAN);
        int count = Byte.toUnsignedInt(tuple.get(tuple.position()));
        int heads = tuple.position() + HEAD;
        int at = heads + FIELD * count;
        List<Object> values = new ArrayList<>(count);
        List<FieldType> types = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int head = heads + FIELD * i;
            FieldType type = FieldType.of(Byte.toUnsignedInt(tuple.get(head)));
            boolean isArray = tuple.get(head + 1) != 0;
            boolean isOne = type.hasShape() && !isArray;
            int from = head + Long.BYTES;
            int size = type.size();
            if (!isInline(type, isArray)) {
                from = at;
                size = Math.toIntExact(isOne ? size : Math.multiplyExact(tuple.getLong(head + Long.BYTES), size));
                at += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            }
            types.add(type);
            values.add(Field.value(type, isArray, tuple.slice(from, size)));
        }
        return new Row(List.copyOf(values), List.copyOf(types), tries);
    }

    // Records

    /** The name of a record's class, then its components. */
    private static Object[] fields(Record record) {
        RecordComponent[] components = record.getClass().getRecordComponents();
        Object[] fields = new Object[components.length + 1];
        fields[0] = record.getClass().getSimpleName();
        try {
            for (int i = 0; i < components.length; i++) {
                components[i].getAccessor().setAccessible(true);
                fields[i + 1] = components[i].getAccessor().invoke(record);
            }
        } catch (ReflectiveOperationException e) {
            throw new PvmException(Code.BAD_PARAM, "the components of " + record.getClass(), e);
        }
        return fields;
    }

    /** The template that fits all records of a class. */
    static Object[] template(Class<? extends Record> kind) {
        RecordComponent[] components = kind.getRecordComponents();
        Object[] fields = new Object[components.length + 1];
        fields[0] = kind.getSimpleName();
        for (int i = 0; i < components.length; i++) {
            fields[i + 1] = components[i].getType();
        }
        return fields;
    }

    /** The record that a row is. */
    static <R extends Record> R record(Row row, Class<R> kind) {
        RecordComponent[] components = kind.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] = row.get(i + 1);
        }
        try {
            Constructor<R> constructor = kind.getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new PvmException(Code.BAD_PARAM, "a record of " + kind, e);
        }
    }
}
