// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.InvalidObjectException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.ObjectStreamConstants;
import java.io.Serializable;

/** Java's serialization, never without a filter. */
final class Serialized {
    private Serialized() {}

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
     * @throws PvmException {@link Code#BAD_MSG} for what is no object; {@link Code#DENIED} for a
     *     class that the filter refuses; {@link Code#BAD_MSG} for one that is not here
     */
    static <T> T read(byte[] bytes, Class<T> type, ObjectInputFilter filter, Object what) {
        if (bytes.length > SafeFilter.BYTES_MAX && filter instanceof SafeFilter) {
            throw new PvmException(Code.DENIED, "an object of " + bytes.length + " bytes in the " + what + ": more than "
                    + SafeFilter.BYTES_MAX + " come only through a filter of one's own");
        }
        if (bytes.length < 2
                || (bytes[0] << 8 | bytes[1] & 0xff) != ObjectStreamConstants.STREAM_MAGIC) {
            throw new PvmException(Code.BAD_MSG, "no Java object in the " + what);
        }
        try (ObjectInputStream in = new Reader(bytes, type.getClassLoader(), filter)) {
            in.setObjectInputFilter(ObjectInputFilter.merge(filter, ObjectInputFilter.Config.getSerialFilter()));
            return type.cast(in.readObject());
        } catch (InvalidClassException | InvalidObjectException e) {
            Code code = String.valueOf(e.getMessage()).contains("REJECTED") ? Code.DENIED : Code.BAD_MSG;
            String which = filter instanceof SafeFilter safe && safe.refused() != null ? "holds " + safe.refused() : e.getMessage();
            throw new PvmException(code, "the object in the " + what + " (" + which + ")", e);
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            // Whatever a hostile stream makes a class's own reading do.
            throw new PvmException(Code.BAD_MSG, "the object in the " + what + " as " + type.getName(), e);
        }
    }

    /** Finds classes where the expected type comes from. */
    private static final class Reader extends ObjectInputStream {
        private final ClassLoader loader;

        private final ObjectInputFilter filter;

        Reader(byte[] bytes, ClassLoader loader, ObjectInputFilter filter) throws IOException {
            super(new ByteArrayInputStream(bytes));
            this.filter = filter;
            ClassLoader own = Thread.currentThread().getContextClassLoader();
            this.loader = loader != null ? loader : own;
        }

        @Override
        protected Class<?> resolveClass(ObjectStreamClass description) throws IOException, ClassNotFoundException {
            try {
                Class<?> found = Class.forName(description.getName(), false, loader);
                return filter instanceof SafeFilter safe ? safe.instead(found) : found;
            } catch (ClassNotFoundException e) {
                return super.resolveClass(description);
            }
        }
    }
}
