#pragma once

#include <string>

#include <fmt/format.h>

#include "tests/unit/parsers/nsys/crafted.h"

// An export of two processes with every column that is read, and no number twice where it need not be.
namespace nl::test {

inline const char* const kMadeTables = R"sql(
  CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
  INSERT INTO StringIds VALUES (1, 'void gemm<float>(int)'), (2, 'gemm'), (3, '_Z4gemmIfEvi'), (4, 'add(int)'), (5, 'add'), (6, '_Z3addi'),
    (10, 'cudaLaunchKernel_v7000'), (11, 'cudaMemcpyAsync_v3020'), (12, 'cudaStreamSynchronize_v3020'), (13, 'cudaGetDevice_v3020'),
    (14, 'cudaGraphLaunch_v10000'), (20, 'registered'), (21, 'main'), (22, 'worker'), (23, 'low');
  CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
  INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.20.3'), ('EXPORT_SCHEMA_VERSION_MAJOR', '9'), ('EXPORT_PRODUCT_VERSION', '2025.3.2.0');
  CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, busLocation TEXT, chipName TEXT, smCount INTEGER, clockRate INTEGER,
    totalMemory INTEGER, memoryBandwidth INTEGER, l2CacheSize INTEGER, computeMajor INTEGER, computeMinor INTEGER);
  INSERT INTO TARGET_INFO_GPU VALUES (1, 'GPU one', 'uuid one', 'bus one', 'chip one', 101, 102, 103, 104, 105, 9, 1),
    (0, 'GPU zero', 'uuid zero', 'bus zero', 'chip zero', -1, -2, -3, -4, -5, -6, -7);
  CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
  INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000001);
  CREATE TABLE ANALYSIS_DETAILS (duration INTEGER);
  INSERT INTO ANALYSIS_DETAILS VALUES (2100), (2000);
  CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT, label TEXT);
  INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'HTOD', 'Host-to-Device'), (2, 'DTOH', 'Device-to-Host'), (8, 'DTOD', 'Device-to-Device');
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, registersPerThread INTEGER,
    gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER,
    dynamicSharedMemory INTEGER, graphNodeId INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, graphNodeId INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, graphNodeId INTEGER, bytes INTEGER, value INTEGER, memKind INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
  CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
    domainId INTEGER, int64Value INTEGER, uint64Value INTEGER, int32Value INTEGER, uint32Value INTEGER);
  CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER,
    graphNodeId INTEGER, originalGraphNodeId INTEGER);
  CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
  CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
)sql";

// {0}, {1}: processes 200 and 300; {2}, {3}: threads 21 and 22 of the first; {4}: thread 31 of the second.
inline const char* const kMadeRows = R"sql(
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
    (1000, 1050, 1, 5, 8, 11, {0}, 1, 2, 3, 7, 1, 2, 3, 4, 5, 6, 8, 9, NULL), (1300, 1390, 1, 5, 9, 12, {0}, 4, 5, 6, 17, 11, 12, 13, 14, 15, 16, 18, 19, 77),
    (1100, 1120, 0, 6, 8, 11, {1}, 1, 2, 3, 7, 1, 2, 3, 4, 5, 6, 8, 9, NULL), (1400, 1400, 0, 6, 8, NULL, {1}, NULL, NULL, NULL, 1, 1, 1, 1, 1, 1, 1, 0, 0, NULL),
    (NULL, 1500, 0, 6, 8, 13, {1}, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0, NULL), (1500, NULL, 0, 6, 8, 13, {1}, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0, NULL),
    (1500, 1499, 0, 6, 8, 13, {1}, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0, NULL), (1600, 1610, 0, 6, 8, 99, NULL, 4, 5, 6, 17, 11, 12, 13, 14, 15, 16, 18, 19, NULL);
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
    (1010, 1020, 1, 5, 8, 21, {0}, NULL, 4096, 1, 0, 2), (1030, 1045, 0, 6, 8, 21, {1}, 3, 64, 2, 6, 1), (1050, 1050, 1, 5, 8, NULL, {0}, NULL, 32, 8, 7, -1),
    (1060, 1061, 1, 5, 8, 21, {0}, NULL, 16, 77, NULL, NULL), (NULL, 1, 1, 5, 8, 21, {0}, NULL, 16, 1, 0, 2), (1070, 1069, 1, 5, 8, 21, {0}, NULL, 16, 1, 0, 2);
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES
    (1080, 1085, 1, 5, 9, 22, {0}, 5, 512, 255, 2), (1090, 1091, 1, 5, 9, 23, {0}, NULL, 513, 0, 1), (1090, NULL, 1, 5, 9, 23, {0}, NULL, 513, 0, 1);
  INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1200, 1230, 1, 5, 8, 31, {0}), (1240, 1250, 0, 6, 8, 31, {1}), (1260, 1259, 0, 6, 8, 31, {1});
  INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
    (900, 910, {2}, 11, 10), (920, 931, {2}, 12, 10), (905, 912, {4}, 11, 10), (930, 940, {3}, 21, 11), (925, 938, {4}, 21, 11), (950, 990, {2}, 40, 12),
    (960, 961, {2}, 41, 13), (970, 973, {2}, 31, 14), (971, 975, {3}, 31, 14), (980, 981, {2}, 22, 14), (NULL, 5, {2}, 1, 10), (985, 984, {2}, 1, 10), (990, 991, {2}, NULL, 10);
  INSERT INTO NVTX_EVENTS VALUES
    (800, NULL, 75, 'late name', {2}, NULL, NULL, 1, NULL, NULL, NULL, NULL), (700, NULL, 75, 'LLM', {3}, NULL, NULL, 1, NULL, NULL, NULL, NULL),
    (750, NULL, 75, 'other', {4}, NULL, NULL, 1, NULL, NULL, NULL, NULL),
    (810, 1900, 59, 'prefill', {2}, NULL, NULL, 1, 71, 72, NULL, NULL), (820, 830, 60, 'text', {4}, NULL, 20, 1, NULL, 73, NULL, NULL),
    (840, 850, 70, 'seventy', {2}, NULL, 98, 2, NULL, NULL, 74, NULL), (860, 870, 71, 'seventy-one', {2}, {3}, NULL, 1, NULL, NULL, NULL, 75),
    (880, NULL, 59, 'open', {3}, NULL, NULL, 0, NULL, NULL, NULL, NULL), (890, 889, 59, 'backward', {3}, NULL, NULL, 0, NULL, NULL, NULL, NULL),
    (NULL, 889, 59, 'no start', {3}, NULL, NULL, 0, NULL, NULL, NULL, NULL), (895, NULL, 34, 'token', {4}, NULL, NULL, 1, NULL, NULL, NULL, NULL),
    (896, NULL, 33, 'category', {4}, NULL, NULL, 1, NULL, NULL, NULL, NULL);
  INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES
    (620, 620, 77, {3}, 1, 76, NULL), (640, 640, 77, {2}, 1, 77, NULL), (641, 641, 77, {2}, 1, 77, 76), (660, 660, 77, {4}, 1, 77, NULL),
    (661, 661, 77, {4}, 1, 3, NULL);
  INSERT INTO PROCESSES VALUES ({0}, 200, 'server'), ({1}, 300, 'client'), ({1} + 16777216, 301, 'nobody');
  INSERT INTO ThreadNames VALUES (23, 5, {2}), (21, 10, {2}), (23, 9, {2}), (23, 1, {3}), (22, 1, {3}), (23, 1, {4} + 7);
)sql";

inline void make_export(CraftedExport& out) {
  out.sql(kMadeTables + fmt::format(fmt::runtime(kMadeRows), global_tid(200, 0), global_tid(300, 0), global_tid(200, 21),
                                    global_tid(200, 22), global_tid(300, 31)));
}

}  // namespace nl::test
