import { setImmediate as settle } from 'node:timers/promises'
import { type Part, startInTurn } from '@svc/app/part'
import { expect, test } from 'vitest'

/** Parts of which each works from its start until the test ends it. */
function newParts(count: number) {
  const started: number[] = []
  const end: (() => void)[] = []
  const parts = Array.from({ length: count }, (_, n): Part => {
    const work = new Promise<void>((resolve) => (end[n] = resolve))
    return { start: () => void started.push(n), idle: () => work, stop: () => Promise.resolve() }
  })
  return { parts, started, end }
}

test('each part is started once the first run of the previous one has ended', async () => {
  const { parts, started, end } = newParts(3)
  void startInTurn(parts, () => false)
  await settle()
  expect(started).toEqual([0])
  end[0]!()
  await settle()
  expect(started).toEqual([0, 1])
  end[1]!()
  await settle()
  expect(started).toEqual([0, 1, 2])
})

test('a part whose first run does not end does not keep the others from starting', async () => {
  const { parts, started } = newParts(3)
  void startInTurn(parts, () => false)
  await expect.poll(() => started).toEqual([0, 1, 2])
})

test('once the service drains, no further part is started', async () => {
  const { parts, started, end } = newParts(3)
  let isOver = false
  void startInTurn(parts, () => isOver)
  await settle()
  isOver = true
  end[0]!()
  await settle()
  expect(started).toEqual([0])
})
