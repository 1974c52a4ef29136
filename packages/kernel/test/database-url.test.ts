import { parseDatabaseUrl } from '@svc/kernel/database-url'
import { expect, test } from 'vitest'

const hostsOf = (url: string) => parseDatabaseUrl(url)?.hosts.map(({ host, port }) => `${host}:${port}`)

test.each([
  ['postgresql://u:p@db.example.com/svc', ['db.example.com:5432']],
  ['postgres://u@db:6432/svc', ['db:6432']],
  ['postgresql://u@h1:5433,h2,h3:5435/svc', ['h1:5433', 'h2:5432', 'h3:5435']],
  ['postgresql://u@[::1]:5433,[fd00::2]/svc', ['::1:5433', 'fd00::2:5432']],
  ['postgresql://u@localhost/svc?host=%2Frun%2Fpg&port=5433', ['/run/pg:5433']],
  ['postgresql://u@localhost/svc?host=a,b&port=5433,5434', ['a:5433', 'b:5434']],
  ['postgresql://u@localhost/svc?host=a,b&port=5433', ['a:5433', 'b:5433']],
  ['postgresql:///svc', [':5432']],
])('the hosts of %s are read as libpq reads them', (url, hosts) => {
  expect(hostsOf(url)).toEqual(hosts)
})

test.each([
  'mysql://u@h/svc',
  'h1,h2',
  'postgresql://u@h1:70000,h2/svc',
  'postgresql://u@h1:x,h2/svc',
  'postgresql://u@localhost/svc?host=a,b,c&port=1,2',
  'postgresql://u@h/svc#fragment',
])('%s is not a database URL', (url) => {
  expect(parseDatabaseUrl(url)).toBeUndefined()
})

test('the URL for the driver has one host, the rest unchanged, and nothing that only libpq understands', () => {
  const parsed = parseDatabaseUrl(
    'postgresql://u:p%40ss@h1:5433,h2:5434/svc?target_session_attrs=read-write&sslmode=verify-full',
  )
  expect(parsed).toMatchObject({
    url: 'postgresql://u:p%40ss@h1:5433/svc?sslmode=verify-full',
    targetSessionAttrs: 'read-write',
  })
})
