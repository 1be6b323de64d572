// Marks what libafar exports; everything else is hidden.
#pragma once

#define AFAR_API __attribute__((visibility("default")))
