-- SPDX-License-Identifier: GPL-2.0-or-later
-- Work for a database engine: fill a table, build an index, join, group, sort, search texts.
PRAGMA journal_mode = MEMORY;
PRAGMA temp_store = MEMORY;
CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, price REAL, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 26000)
INSERT INTO item SELECT i, (i * 7919) % 97, (i * 104729) % 10007 / 7.0, printf('%08x-%d', (i * 2654435761) % 4294967296, i) FROM n;
CREATE INDEX by_name ON item (name);
CREATE INDEX by_price ON item (price);
SELECT count(*), sum(length(name)) FROM (SELECT name FROM item ORDER BY name || kind);
SELECT kind, count(*), avg(price), max(name) FROM item GROUP BY kind ORDER BY 3 LIMIT 5;
SELECT count(*) FROM item WHERE name LIKE '%f0%' OR name LIKE '%1e%7';
SELECT sum(a.price * b.price) FROM item a JOIN item b ON b.id = (a.id * 31) % 26000 + 1;
SELECT count(*) FROM item WHERE name GLOB '*[a-c]?[0-4]*-*9';
SELECT sum(price * price - 2 * price + id % 13) FROM item, (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3);
UPDATE item SET price = price * 1.01 + kind WHERE id % 3 = 0;
DELETE FROM item WHERE kind % 5 = 2;
