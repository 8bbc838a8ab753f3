// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A field of a tuple or a template, of a type that Java's own do not name.
 *
 * <p>Values of Java's types need no field: a {@code byte} is C's signed char, a {@code short} its
 * short, a {@code char} its unsigned short, an {@code int} its int, a {@code long} its long, and so
 * on; a {@code String} is text, a {@code byte[]} bytes, and any other array an array. In a template
 * the class of a type, such as {@code int.class} or {@code double[].class}, is a formal: it fits any
 * value of the type.
 */
public final class Field {
    private static final Map<Class<?>, FieldType> TYPES = Map.ofEntries(
            Map.entry(byte.class, FieldType.SIGNED_CHAR), Map.entry(Byte.class, FieldType.SIGNED_CHAR),
            Map.entry(short.class, FieldType.SHORT), Map.entry(Short.class, FieldType.SHORT),
            Map.entry(char.class, FieldType.UNSIGNED_SHORT), Map.entry(Character.class, FieldType.UNSIGNED_SHORT),
            Map.entry(int.class, FieldType.INT), Map.entry(Integer.class, FieldType.INT),
            Map.entry(long.class, FieldType.LONG), Map.entry(Long.class, FieldType.LONG),
            Map.entry(float.class, FieldType.FLOAT), Map.entry(Float.class, FieldType.FLOAT),
            Map.entry(double.class, FieldType.DOUBLE), Map.entry(Double.class, FieldType.DOUBLE),
            Map.entry(boolean.class, FieldType.BOOL), Map.entry(Boolean.class, FieldType.BOOL),
            Map.entry(String.class, FieldType.TEXT), Map.entry(byte[].class, FieldType.BYTES));

    final FieldType type;
    final boolean isArray;
    /** The items, little-endian; null for a formal. */
    final byte[] data;
    /** The size of a formal struct. */
    final long size;

    private Field(FieldType type, boolean isArray, byte[] data, long size) {
        this.type = type;
        this.isArray = isArray;
        this.data = data;
        this.size = size;
    }

    /**
     * A value of a type. An array type is that of the items.
     *
     * @throws PvmException {@link Code#BAD_PARAM} if it is no such value
     */
    public static Field of(FieldType type, Object value) {
        boolean isArray = value.getClass().isArray() && type.hasShape();
        byte[] data = bytes(type, value);
        boolean isOne = !type.hasShape() || data.length == type.size();
        boolean isPair = type == FieldType.FLOAT_COMPLEX || type == FieldType.DOUBLE_COMPLEX
                || type == FieldType.LONG_DOUBLE;
        if (data.length % type.size() != 0 || (!isArray && !isOne)) {
            throw misfit(type, value);
        }
        return new Field(type, isArray && !(isPair && isOne), data, 0);
    }

    /** A formal: any value of a type. */
    public static Field any(FieldType type) {
        return new Field(type, false, null, 0);
    }

    /** A formal: any array of a type. */
    public static Field anyArray(FieldType type) {
        return new Field(type, type.hasShape(), null, 0);
    }

    /** A formal: any struct of a size. */
    public static Field anyStruct(long size) {
        return new Field(FieldType.STRUCT, false, null, size);
    }

    /** The field that a program's argument is. */
    static Field from(Object value) {
        if (value instanceof Field field) {
            return field;
        }
        if (value instanceof Class<?> kind) {
            return formal(kind);
        }
        if (value == null) {
            throw new PvmException(Code.BAD_PARAM, "null as a field of a tuple");
        }
        Class<?> kind = value.getClass();
        FieldType type = TYPES.get(kind);
        if (type == null && kind.isArray()) {
            type = TYPES.get(kind.getComponentType());
        }
        if (type == null) {
            throw new PvmException(Code.BAD_PARAM, kind.getName() + " as a field of a tuple");
        }
        return of(type, value);
    }

    private static Field formal(Class<?> kind) {
        FieldType type = TYPES.get(kind);
        if (type != null) {
            return any(type);
        }
        type = kind.isArray() ? TYPES.get(kind.getComponentType()) : null;
        if (type == null || !type.hasShape()) {
            throw new PvmException(Code.BAD_PARAM, kind.getName() + " as a formal of a template");
        }
        return anyArray(type);
    }

    private static PvmException misfit(FieldType type, Object value) {
        return new PvmException(Code.BAD_PARAM, value.getClass().getSimpleName() + " as a field of type " + type);
    }

    private static byte[] bytes(FieldType type, Object value) {
        if (value instanceof String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        if (value instanceof byte[] bytes) {
            return bytes.clone();
        }
        if (value instanceof Boolean is) {
            return new byte[] {(byte) (is ? 1 : 0)};
        }
        if (value instanceof Character one) {
            return integer(type, one, value);
        }
        if (value instanceof Float || value instanceof Double) {
            return real(type, ((Number) value).doubleValue(), value);
        }
        if (value instanceof Number number) {
            return integer(type, number.longValue(), value);
        }
        return items(value, type);
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] integer(FieldType type, long value, Object given) {
        boolean isInteger = type.number() <= FieldType.UNSIGNED_LONG_LONG.number();
        int bits = 8 * type.size();
        boolean fits = bits == 64 || (type.toString().startsWith("unsigned")
                ? value >= 0 && value >> bits == 0
                : value >= -(1L << (bits - 1)) && value < 1L << (bits - 1));
        if (!isInteger || !fits) {
            throw misfit(type, given);
        }
        byte[] wide = little(Long.BYTES).putLong(value).array();
        return java.util.Arrays.copyOf(wide, type.size());
    }

    private static byte[] real(FieldType type, double value, Object given) {
        return switch (type) {
            case FLOAT -> little(Float.BYTES).putFloat((float) value).array();
            case DOUBLE -> little(Double.BYTES).putDouble(value).array();
            default -> throw misfit(type, given);
        };
    }

    private static byte[] items(Object array, FieldType type) {
        if (array instanceof short[] items) {
            ByteBuffer room = little(Math.multiplyExact(items.length, Short.BYTES));
            room.asShortBuffer().put(items);
            return room.array();
        }
        if (array instanceof char[] items) {
            ByteBuffer room = little(Math.multiplyExact(items.length, Character.BYTES));
            room.asCharBuffer().put(items);
            return room.array();
        }
        if (array instanceof int[] items) {
            ByteBuffer room = little(Math.multiplyExact(items.length, Integer.BYTES));
            room.asIntBuffer().put(items);
            return room.array();
        }
        if (array instanceof long[] items) {
            ByteBuffer room = little(Math.multiplyExact(items.length, Long.BYTES));
            room.asLongBuffer().put(items);
            return room.array();
        }
        if (array instanceof float[] items) {
            ByteBuffer room = little(Math.multiplyExact(items.length, Float.BYTES));
            room.asFloatBuffer().put(items);
            return room.array();
        }
        if (array instanceof double[] items) {
            ByteBuffer room = little(Math.multiplyExact(items.length, Double.BYTES));
            room.asDoubleBuffer().put(items);
            return room.array();
        }
        if (array instanceof boolean[] items) {
            byte[] bytes = new byte[items.length];
            for (int i = 0; i < items.length; i++) {
                bytes[i] = (byte) (items[i] ? 1 : 0);
            }
            return bytes;
        }
        throw misfit(type, array);
    }

    /** The value that the data of a field are. */
    static Object value(FieldType type, boolean isArray, ByteBuffer data) {
        data.order(ByteOrder.LITTLE_ENDIAN);
        return isArray ? array(type, data) : scalar(type, data);
    }

    private static byte[] rest(ByteBuffer data) {
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return bytes;
    }

    private static Object scalar(FieldType type, ByteBuffer data) {
        return switch (type) {
            case CHAR, SIGNED_CHAR -> data.get();
            case UNSIGNED_CHAR -> (short) Byte.toUnsignedInt(data.get());
            case SHORT -> data.getShort();
            case UNSIGNED_SHORT -> data.getChar();
            case INT -> data.getInt();
            case UNSIGNED_INT -> Integer.toUnsignedLong(data.getInt());
            case LONG, UNSIGNED_LONG, LONG_LONG, UNSIGNED_LONG_LONG -> data.getLong();
            case FLOAT -> data.getFloat();
            case DOUBLE -> data.getDouble();
            case BOOL -> data.get() != 0;
            case TEXT -> StandardCharsets.UTF_8.decode(data).toString();
            case FLOAT_COMPLEX, DOUBLE_COMPLEX -> array(type, data);
            case LONG_DOUBLE, BYTES, STRUCT -> rest(data);
        };
    }

    private static Object array(FieldType type, ByteBuffer data) {
        switch (type) {
            case SHORT: {
                short[] items = new short[data.remaining() / Short.BYTES];
                data.asShortBuffer().get(items);
                return items;
            }
            case UNSIGNED_SHORT: {
                char[] items = new char[data.remaining() / Character.BYTES];
                data.asCharBuffer().get(items);
                return items;
            }
            case INT:
            case UNSIGNED_INT: {
                int[] items = new int[data.remaining() / Integer.BYTES];
                data.asIntBuffer().get(items);
                return items;
            }
            case LONG:
            case UNSIGNED_LONG:
            case LONG_LONG:
            case UNSIGNED_LONG_LONG: {
                long[] items = new long[data.remaining() / Long.BYTES];
                data.asLongBuffer().get(items);
                return items;
            }
            case FLOAT:
            case FLOAT_COMPLEX: {
                float[] items = new float[data.remaining() / Float.BYTES];
                data.asFloatBuffer().get(items);
                return items;
            }
            case DOUBLE:
            case DOUBLE_COMPLEX: {
                double[] items = new double[data.remaining() / Double.BYTES];
                data.asDoubleBuffer().get(items);
                return items;
            }
            case BOOL: {
                boolean[] items = new boolean[data.remaining()];
                for (int i = 0; i < items.length; i++) {
                    items[i] = data.get() != 0;
                }
                return items;
            }
            default:
                return rest(data);
        }
    }
}
