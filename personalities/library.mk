# SPDX-License-Identifier: MIT OR Apache-2.0
# How one interface's library is built against an installed NeoPVM and added to it. The including Makefile sets NAME
# (its folder), LIBRARY (the file's old name), HEADERS and, where there are any, COMMANDS and LINKS.

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
FC ?= gfortran
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow
BUILD ?= build

HERE := $(dir $(abspath $(firstword $(MAKEFILE_LIST))))
COMMON := $(HERE)../common
SOURCES := $(wildcard $(HERE)src/*.c) $(wildcard $(COMMON)/src/*.c)
OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(notdir $(SOURCES)))
VPATH := $(HERE)src:$(COMMON)/src
FLAGS := -std=gnu11 -fPIC -fvisibility=hidden -pthread $(WARNINGS) -I$(HERE)include -I$(HERE)src -I$(COMMON) -I$(COMMON)/src -I$(PREFIX)/include

STATIC := $(BUILD)/lib$(LIBRARY).a
SHARED := $(BUILD)/lib$(LIBRARY).so
PKGCONFIG := $(BUILD)/neopvm-$(NAME).pc

.PHONY: all install clean
all: $(STATIC) $(SHARED) $(PKGCONFIG)

$(BUILD)/%.o: %.c $(wildcard $(HERE)src/*.h) $(wildcard $(HERE)include/*.h) $(wildcard $(COMMON)/*.h) $(wildcard $(COMMON)/src/*.h)
	@mkdir -p $(BUILD)
	$(CC) $(FLAGS) $(CFLAGS) -c $< -o $@

# One object whose hidden names are local to it, so that the archive, too, has the interface's names only.
$(STATIC): $(OBJECTS)
	$(LD) -r -o $(BUILD)/$(LIBRARY)-whole.o $(OBJECTS)
	objcopy --localize-hidden $(BUILD)/$(LIBRARY)-whole.o
	rm -f $@
	$(AR) rcs $@ $(BUILD)/$(LIBRARY)-whole.o

$(SHARED): $(OBJECTS) $(HERE)$(NAME).map
	$(CC) -shared -pthread -o $@ $(OBJECTS) -Wl,--version-script=$(HERE)$(NAME).map -Wl,-soname,lib$(LIBRARY).so \
	  -Wl,-z,defs -L$(PREFIX)/lib -lpvm3 '-Wl,-rpath,$$ORIGIN/../..'

$(PKGCONFIG): $(firstword $(MAKEFILE_LIST))
	@mkdir -p $(BUILD)
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib/neopvm/$(NAME)' 'includedir=$${prefix}/include/neopvm/$(NAME)' '' \
	  'Name: neopvm-$(NAME)' 'Description: the $(NAME) interface on a NeoPVM machine' 'Version: 0.1.0' \
	  'Cflags: -I$${includedir} -I$${prefix}/include' \
	  'Libs: -L$${libdir} -Wl,-rpath,$${libdir} -l$(LIBRARY) -L$${prefix}/lib -Wl,-rpath,$${prefix}/lib -lpvm3' >$@

install: all
	install -d $(DESTDIR)$(PREFIX)/lib/neopvm/$(NAME) $(DESTDIR)$(PREFIX)/include/neopvm/$(NAME) $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 $(STATIC) $(DESTDIR)$(PREFIX)/lib/neopvm/$(NAME)
	install -m 755 $(SHARED) $(DESTDIR)$(PREFIX)/lib/neopvm/$(NAME)
	install -m 644 $(addprefix $(HERE),$(HEADERS)) $(DESTDIR)$(PREFIX)/include/neopvm/$(NAME)
	install -m 644 $(PKGCONFIG) $(DESTDIR)$(PREFIX)/lib/pkgconfig
ifneq ($(COMMANDS),)
	install -d $(DESTDIR)$(PREFIX)/libexec/neopvm/bin
	install -m 755 $(addprefix $(HERE),$(COMMANDS)) $(DESTDIR)$(PREFIX)/libexec/neopvm/bin
endif

clean:
	rm -rf $(BUILD)
