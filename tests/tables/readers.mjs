// Reads what crafted_tables and `nl-stage facts` wrote, with the readers that others publish.
//   node readers.mjs READERS FOLDER...     READERS: what tools/fetch-table-readers prints
// A folder with hard.json has crafted tables, any other the tables of runs as Parquet, Arrow and CSV, with facts.json, what --json printed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [readers, ...folders] = process.argv.slice(2);
const require = createRequire(join(readers, 'package.json'));
// Of a module that is CommonJS the names may be members of its default.
const load = async (name) => {
  const module = await import(pathToFileURL(require.resolve(name)).href);
  return { ...module.default, ...module };
};
const arrow = await load('apache-arrow');
const hyparquet = await load('hyparquet');

const { DuckDBInstance } = await load('@duckdb/node-api');
const duckdb = await (await DuckDBInstance.create(':memory:')).connect();

const big = (value) => (typeof value === 'bigint' ? value.toString() : value);

async function parquet_of(file) {
  const bytes = readFileSync(file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const metadata = hyparquet.parquetMetadata(buffer);
  return { metadata, rows: () => hyparquet.parquetReadObjects({ file: buffer, metadata, parsers: { ...microseconds } }) };
}
// As they are in the file: a Date has milliseconds.
const microseconds = { timestampFromMicroseconds: (value) => value };

const arrow_of = (file) => arrow.tableFromIPC(readFileSync(file));

async function duckdb_rows(sql) {
  return (await duckdb.runAndReadAll(sql)).getRowObjects();
}

function check_column(name, found, expected, reader) {
  assert.equal(found.length, expected.length, `${reader}: rows of ${name}`);
  for (let row = 0; row < expected.length; ++row)
    assert.deepEqual(big(found[row]) ?? null, expected[row], `${reader}: ${name}, row ${row}`);
}

const as_csv = "read_csv('%', header = true, all_varchar = true, allow_quoted_nulls = false, max_line_size = 10000000, strict_mode = true)";

async function check_hard(folder) {
  const expected = JSON.parse(readFileSync(join(folder, 'hard.json')));
  const names = Object.keys(expected);
  const { metadata, rows } = await parquet_of(join(folder, 'hard.parquet'));
  assert.deepEqual(metadata.schema.slice(1).map((each) => each.name), names);
  assert.equal(metadata.key_value_metadata[0].key, 'nl_stage.facts_version');
  const by_hyparquet = await rows();
  const by_arrow = arrow_of(join(folder, 'hard.arrow'));
  assert.deepEqual(by_arrow.schema.fields.map((field) => String(field.type)), ['Int64', 'Float64', 'Utf8', 'Bool', 'Timestamp<MICROSECOND, UTC>', 'Utf8', 'Int64']);
  assert.equal(by_arrow.schema.metadata.get('nl_stage.facts_version'), metadata.key_value_metadata[0].value);
  assert.equal(by_arrow.schema.fields[0].metadata.get('unit'), 'ns');
  for (const name of names) {
    check_column(name, by_hyparquet.map((row) => row[name]), expected[name], 'hyparquet');
    const column = by_arrow.getChild(name);
    const raw = name === 'moment' ? raw_times(column) : [...column];
    check_column(name, raw, expected[name], 'apache-arrow');
    assert.equal(column.nullCount, expected[name].filter((value) => value === null).length, `nulls of ${name}`);
  }
  const by_duckdb = await duckdb_rows(`SELECT * REPLACE (epoch_us(moment) AS moment) FROM '${folder}/hard.parquet'`);
  for (const name of names) check_column(name, by_duckdb.map((row) => row[name]), expected[name], 'DuckDB');
  const types = await duckdb_rows(`DESCRIBE SELECT * FROM '${folder}/hard.parquet'`);
  assert.deepEqual(types.map((row) => row.column_type), ['BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN', 'TIMESTAMP WITH TIME ZONE', 'VARCHAR', 'BIGINT']);
  await check_csv(folder, expected);
}

// The reader makes numbers of milliseconds of them.
function raw_times(column) {
  const out = [];
  for (const data of column.data)
    for (let row = 0; row < data.length; ++row) out.push(data.getValid(row) ? data.values[row] : null);
  return out;
}

async function check_csv(folder, expected) {
  const rows = await duckdb_rows(`SELECT * FROM ${as_csv.replace('%', `${folder}/hard.csv`)}`);
  for (const name of ['whole', 'words', 'never', 'always']) check_column(name, rows.map((row) => row[name]), expected[name], 'CSV');
  const parsed = await duckdb_rows(`SELECT real::DOUBLE AS real, truth::BOOLEAN AS truth, epoch_us(moment::TIMESTAMPTZ) AS moment FROM ${as_csv.replace('%', `${folder}/hard.csv`)}`);
  for (const name of ['real', 'truth', 'moment']) check_column(name, parsed.map((row) => row[name]), expected[name], 'CSV');
}

async function check_empty(folder) {
  assert.deepEqual(await (await parquet_of(join(folder, 'empty.parquet'))).rows(), []);
  const table = arrow_of(join(folder, 'empty.arrow'));
  assert.equal(table.numRows, 0);
  assert.deepEqual(table.schema.fields.map((field) => field.name), ['number', 'half', 'words']);
  assert.deepEqual(await duckdb_rows(`SELECT count(*) AS rows, count(words) AS words FROM '${folder}/empty.parquet'`), [{ rows: 0n, words: 0n }]);
}

async function check_large(folder) {
  const { metadata, rows } = await parquet_of(join(folder, 'large.parquet'));
  assert.equal(Number(metadata.num_rows), 1000000);
  assert.ok(metadata.row_groups.every((group) => group.num_rows <= 65536n));
  assert.equal((await rows()).reduce((sum, row) => sum + BigInt(row.number), 0n), 499999500000n);
  const table = arrow_of(join(folder, 'large.arrow'));
  assert.equal(table.numRows, 1000000);
  assert.ok(table.batches.length > 15);
  assert.equal(table.get(999999).words, `void kernel<999999${'T'.repeat(100)}>()`);
  for (const file of ['large.parquet', 'large.csv'])
    assert.deepEqual(await duckdb_rows(`SELECT sum(number)::BIGINT AS numbers, count(half) AS halves, max(length(words)) AS longest FROM '${folder}/${file}'`),
      [{ numbers: 499999500000n, halves: 500000n, longest: 121n }], file);
}

// Tables of runs: all formats say the same.
async function check_facts(folder) {
  const facts = JSON.parse(readFileSync(join(folder, 'facts.json')));
  for (const told of facts.tables) {
    const names = told.columns.map((column) => column.name);
    const { metadata, rows } = await parquet_of(join(folder, `${told.name}.parquet`));
    assert.deepEqual(metadata.schema.slice(1).map((each) => each.name), names);
    const by_hyparquet = await rows(), by_arrow = arrow_of(join(folder, `${told.name}.arrow`));
    assert.equal(by_hyparquet.length, told.rows);
    assert.equal(by_arrow.numRows, told.rows);
    for (const { name, type } of told.columns) {
      const column = by_arrow.getChild(name);
      const raw = type === 'time' ? raw_times(column) : [...column];
      check_column(name, by_hyparquet.map((row) => row[name]), raw.map((value) => big(value) ?? null), `${told.name}: hyparquet and apache-arrow`);
    }
    const differences = await duckdb_rows(`SELECT count(*) AS rows FROM (SELECT * FROM '${folder}/${told.name}.parquet' EXCEPT ALL
      SELECT ${names.map((name) => `"${name}"::${duckdb_type(told.columns.find((column) => column.name === name).type)} AS "${name}"`).join(', ')}
      FROM ${as_csv.replace('%', `${folder}/${told.name}.csv`)})`);
    assert.deepEqual(differences, [{ rows: 0n }], `${told.name}: Parquet and CSV`);
  }
  console.log(`${folder}: ${facts.tables.map((table) => `${table.rows} ${table.name}`).join(', ')}`);
}

const duckdb_type = (type) => ({ integer: 'BIGINT', real: 'DOUBLE', text: 'VARCHAR', boolean: 'BOOLEAN', time: 'TIMESTAMPTZ' })[type];

for (const folder of folders) {
  if (!existsSync(join(folder, 'hard.json'))) {
    await check_facts(folder);
    continue;
  }
  await check_hard(folder);
  await check_empty(folder);
  await check_large(folder);
}
console.log('read with hyparquet, apache-arrow and DuckDB');
