import { inWindows } from '@svc/kernel/in-windows'
import { expect, test } from 'vitest'

async function* of(items: readonly string[]) {
  yield* items
}
const keyOf = (item: string) => item[0]!

test('some at a time, of one key never two, and results in the order of the items', async () => {
  const [underWay, times]: [Set<string>, string[][]] = [new Set(), []]
  const found: string[] = []
  const work = async (item: string) => {
    expect([...underWay].map(keyOf)).not.toContain(keyOf(item))
    underWay.add(item)
    times.push([...underWay])
    // The first ends last.
    for (let turns = 9 - Number(item[1]); turns > 0; turns--) await Promise.resolve()
    underWay.delete(item)
    return item.toUpperCase()
  }
  for await (const result of inWindows(of(['a1', 'b2', 'c3', 'd4', 'd5', 'a6']), { size: 3, keyOf }, work))
    found.push(result)
  expect(found).toEqual(['A1', 'B2', 'C3', 'D4', 'D5', 'A6'])
  expect(times.map(({ length }) => length)).toEqual([1, 2, 3, 1, 1, 2])
})

test('what fails is thrown once the others of its time have ended', async () => {
  const ended: string[] = []
  const work = async (item: string) => {
    if (item === 'a1') throw new Error('broken')
    await Promise.resolve()
    ended.push(item)
  }
  const all = async () => {
    for await (const _ of inWindows(of(['a1', 'b2', 'c3', 'd4']), { size: 3, keyOf }, work));
  }
  await expect(all()).rejects.toThrow('broken')
  expect(ended).toEqual(['b2', 'c3'])
})
