// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.ObjectStreamConstants;
import java.io.Serializable;

/** Java's serialization, never without a filter. */
final class Serialized {
    private static final String LIMITS = "maxdepth=20;maxarray=1000000;maxrefs=1000000;maxbytes=16777216;";

    private Serialized() {}

    /** Classes of Java's base module, those of the type's own package, and limits to sizes. */
    static ObjectInputFilter filterFor(Class<?> type) {
        String own = type.isArray() || type.isPrimitive() || type.getPackageName().startsWith("java.")
                ? "" : type.getPackageName().isEmpty() ? type.getName() + ";" : type.getPackageName() + ".*;";
        return ObjectInputFilter.Config.createFilter(LIMITS + "java.base/*;" + own + "!*");
    }

    static byte[] write(Serializable object) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        } catch (IOException e) {
            throw new PvmException(Code.BAD_PARAM, "packing a " + object.getClass().getName(), e);
        }
        return bytes.toByteArray();
    }

    /**
     * @param what the message, for the exception's text
     * @throws PvmException {@link Code#BAD_MSG} for what is no object; {@link Code#DENIED} for a class that the filter
     *     refuses; {@link Code#BAD_MSG} for one that is not here
     */
    static <T> T read(byte[] bytes, Class<T> type, ObjectInputFilter filter, Object what) {
        if (bytes.length < 2
                || (bytes[0] << 8 | bytes[1] & 0xff) != ObjectStreamConstants.STREAM_MAGIC) {
            throw new PvmException(Code.BAD_MSG, "no Java object in the " + what);
        }
        try (ObjectInputStream in = new Reader(bytes, type.getClassLoader())) {
            in.setObjectInputFilter(ObjectInputFilter.merge(filter, ObjectInputFilter.Config.getSerialFilter()));
            return type.cast(in.readObject());
        } catch (InvalidClassException e) {
            Code code = String.valueOf(e.getMessage()).contains("REJECTED") ? Code.DENIED : Code.BAD_MSG;
            throw new PvmException(code, "the object in the " + what + " (" + e.getMessage() + ")", e);
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            // Whatever a hostile stream makes a class's own reading do.
            throw new PvmException(Code.BAD_MSG, "the object in the " + what + " as " + type.getName(), e);
        }
    }

    /** Finds classes where the expected type comes from. */
    private static final class Reader extends ObjectInputStream {
        private final ClassLoader loader;

        Reader(byte[] bytes, ClassLoader loader) throws IOException {
            super(new ByteArrayInputStream(bytes));
            ClassLoader own = Thread.currentThread().getContextClassLoader();
            this.loader = loader != null ? loader : own;
        }

        @Override
        protected Class<?> resolveClass(ObjectStreamClass description) throws IOException, ClassNotFoundException {
            try {
                return Class.forName(description.getName(), false, loader);
            } catch (ClassNotFoundException e) {
                return super.resolveClass(description);
            }
        }
    }
}
