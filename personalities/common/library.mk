# Builds one interface as a static and a shared library against an installed NeoPVM, and installs it.
# A Makefile sets NAME and includes this file:
#   NAME        of the interface: tcgmsg
#   LIBRARY     of the library, where it is another: libLIBRARY.so (default NAME)
#   PC          the pkg-config file, where it is not neopvm-NAME or, for another LIBRARY, neopvm-NAME-LIBRARY
#   COMMON      no where nothing of common/src is wanted, or the names of the files that are
#   DEFINES     flags of its own (NEOPVM_BIN, where pvm is looked for first, is $(PREFIX)/bin)
#   COMMANDS    programs and scripts for libexec/neopvm/bin
# COMMON_BUILD is the folder of the objects of common/src. They are the same for every interface, so whoever builds several
# of them for one PREFIX names one folder for all.
# More libraries from the same sources: a target of its own that calls $(MAKE) with LIBRARY and DEFINES changed.
# Sources are src/*.c, headers include/*, and NAME.map is the version script with the names that are exported.

PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
CFLAGS  ?= -O2 -g
LIBRARY ?= $(NAME)
COMMON  ?= yes
BUILD   ?= build
# Make has a PC of its own, a compiler for Pascal.
ifneq ($(filter default undefined,$(origin PC)),)
PC      := neopvm-$(if $(filter $(LIBRARY),$(NAME)),$(NAME),$(NAME)-$(LIBRARY))
endif
STRICT  ?= -Wall -Wextra -Wpedantic -Wshadow -Werror

COMMON_FOLDER := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))/
SHARED  := $(if $(filter yes,$(COMMON)),$(wildcard $(COMMON_FOLDER)src/*.c),\
	$(addprefix $(COMMON_FOLDER)src/,$(filter-out no,$(COMMON))))
OUT     := $(BUILD)/$(LIBRARY)
COMMON_BUILD ?= $(OUT)/common
OBJECTS := $(patsubst src/%.c,$(OUT)/%.o,$(wildcard src/*.c)) \
	$(patsubst $(COMMON_FOLDER)src/%.c,$(COMMON_BUILD)/%.o,$(SHARED))
TREE    := $(DESTDIR)$(PREFIX)

COMMON_FLAGS = -std=c11 -D_GNU_SOURCE $(STRICT) -fPIC -fvisibility=hidden -pthread \
	-DNEOPVM_BIN='"$(PREFIX)/bin"' -I$(PREFIX)/include -I$(COMMON_FOLDER)
FLAGS = $(COMMON_FLAGS) -Iinclude -Isrc $(DEFINES)

.PHONY: library install clean
library: $(OUT)/lib$(LIBRARY).a $(OUT)/lib$(LIBRARY).so

$(COMMON_BUILD)/%.o: $(COMMON_FOLDER)src/%.c
	@mkdir -p $(@D)
	$(CC) $(COMMON_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Loops over items: with vectors they take half of the time.
$(COMMON_BUILD)/combine.o $(OUT)/ops.o: CFLAGS += -O3

$(OUT)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# One object whose hidden names are nobody else's. The others are weak: a program may have its own function of such a name.
$(OUT)/lib$(LIBRARY).a: $(OBJECTS)
	@rm -f $@
	$(CC) -nostdlib -r -o $(OUT)/whole.o $(OBJECTS)
	objcopy --localize-hidden $(OUT)/whole.o
	nm -g --defined-only $(OUT)/whole.o | awk '{ print $$3 }' > $(OUT)/names
	objcopy --weaken-symbols=$(OUT)/names $(OUT)/whole.o
	ar rcs $@ $(OUT)/whole.o

$(OUT)/lib$(LIBRARY).so: $(OBJECTS) $(NAME).map
	$(CC) -shared -pthread -Wl,-soname,lib$(LIBRARY).so.1 -Wl,--version-script=$(NAME).map -Wl,-z,defs \
		-o $@ $(OBJECTS) -L$(PREFIX)/lib -lpvm3 -Wl,-rpath,'$$ORIGIN/../..' -lm

install: library
	mkdir -p $(TREE)/lib/neopvm/$(NAME) $(TREE)/include/neopvm/$(NAME) $(TREE)/lib/pkgconfig
	install -m 644 $(OUT)/lib$(LIBRARY).a $(TREE)/lib/neopvm/$(NAME)/
	install -m 755 $(OUT)/lib$(LIBRARY).so $(TREE)/lib/neopvm/$(NAME)/lib$(LIBRARY).so.1
	ln -sf lib$(LIBRARY).so.1 $(TREE)/lib/neopvm/$(NAME)/lib$(LIBRARY).so
	$(if $(wildcard include/*),install -m 644 include/* $(TREE)/include/neopvm/$(NAME)/)
	$(if $(COMMANDS),mkdir -p $(TREE)/libexec/neopvm/bin && install -m 755 $(COMMANDS) $(TREE)/libexec/neopvm/bin/)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@NAME@|$(NAME)|' -e 's|@LIBRARY@|$(LIBRARY)|' \
		$(COMMON_FOLDER)library.pc.in > $(TREE)/lib/pkgconfig/$(PC).pc

clean:
	rm -rf $(BUILD)

-include $(OBJECTS:.o=.d)
