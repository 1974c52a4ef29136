import { ByTenant, byTenant, idsByTenant, lastOfEach } from '@svc/kernel/by-tenant'
import { NestedMap } from '@svc/kernel/nested-map'
import type { CommandTools } from '@svc/platform/command'
import type { CommandSpec, PreparedCommand } from '@svc/platform/db/batch'
import fc from 'fast-check'
import { expect, test } from 'vitest'

interface Row {
  readonly tenant: string
  readonly id: string
  readonly n: number
}
const tenantOf = (row: Row) => row.tenant
const idOf = (row: Row) => row.id

// Few ids with spaces in them, so that keys which are joined would run into each other.
const text = fc.constantFrom('', ' ', 'a', 'a ', ' a', 'a a', 'b')
const rows = fc
  .array(fc.record({ tenant: text, id: text }), { maxLength: 30 })
  .map((list) => list.map((row, n): Row => ({ ...row, n })))
const matching = (list: readonly Row[], tenant: string, id: string) =>
  list.filter((row) => row.tenant === tenant && row.id === id)

test('a slice has its tenant’s rows and no other, whatever the ids look like', () => {
  fc.assert(
    fc.property(rows, text, text, (list, tenant, id) => {
      const found = matching(list, tenant, id)
      expect(
        byTenant(list, tenantOf, idOf, ({ n }) => n)
          .of(tenant)
          .get(id),
      ).toBe(found.at(-1)?.n)
      expect(idsByTenant(list, tenantOf, idOf).of(tenant).has(id)).toBe(found.length > 0)
    }),
  )
})

test('a slice is created once, empty, and is the tenant’s from then on', () => {
  const state = new ByTenant((tenantId) => ({ tenantId, ids: new Set<string>() }))
  state.of('a').ids.add('x')
  expect(state.of('a')).toBe(state.of('a'))
  expect(state.of('b')).toEqual({ tenantId: 'b', ids: new Set() })
})

test('of several items with one tenant and id the last is kept, in the place of the first', () => {
  fc.assert(
    fc.property(rows, (list) => {
      const first = list.filter((row) => matching(list, row.tenant, row.id)[0] === row)
      const expected = first.map((row) => matching(list, row.tenant, row.id).at(-1))
      expect(lastOfEach(list, tenantOf, idOf)).toEqual(expected)
    }),
  )
})

test('a nested map finds what was set under the same ids, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text, text)), fc.tuple(text, text, text), (paths, requested) => {
      const map = new NestedMap<[string, string, string], number>()
      paths.forEach((path, n) => map.set(path, n))
      const last = paths.findLastIndex((path) => path.every((id, i) => id === requested[i]))
      expect(map.get(...requested)).toBe(last === -1 ? undefined : last)
    }),
  )
})

test('a lookup without a tenant does not compile, nor a rule that could make one', async () => {
  const state = byTenant([{ tenant: 'a', id: 'x', n: 1 }], tenantOf, idOf, ({ n }) => n)
  // @ts-expect-error -- an id alone is no way to ask
  expect(state.get).toBeUndefined()
  // @ts-expect-error -- nor is every slice at once
  expect(state.values).toBeUndefined()

  type Spec = CommandSpec<PreparedCommand, Map<string, number>, number>
  const rest = {
    name: 'test',
    apply: () => undefined,
    save: () => undefined,
  }
  const decide: Spec['decide'] = (slice) => slice.get('x') ?? 0
  const good: Spec = { ...rest, decide, lock: () => Promise.resolve(state) }
  expect(good.decide((await good.lock(undefined as never, [])).of('a'), { tenantId: 'a' }, new Date())).toBe(
    1,
  )

  const all: Spec = {
    ...rest,
    decide,
    // @ts-expect-error -- the state of a batch is by tenant
    lock: () => Promise.resolve(new Map<string, number>()),
  }
  const rule: Spec = {
    ...good,
    // @ts-expect-error -- a rule is given its tenant's slice, and cannot ask for another
    decide: (slice) => slice.of('b').get('x') ?? 0,
  }
  expect([all, rule]).toHaveLength(2)
})

test('a command that requests a time without a tenant does not compile', () => {
  const nowOf = ({ clock }: CommandTools) => {
    // @ts-expect-error -- rules go by the tenant's time
    void clock.now
    return clock.of('a').now()
  }
  expect(nowOf).toBeTypeOf('function')
})
