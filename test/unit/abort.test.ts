import { getEventListeners, once } from 'node:events'
import { abortWith } from '@svc/platform/abort'
import { expect, test } from 'vitest'

test('many controllers follow one signal without a warning, and finished ones leave nothing in it', async () => {
  const warnings: Error[] = []
  const warned = (warning: Error) => void warnings.push(warning)
  process.on('warning', warned)
  const ending = new AbortController()
  const controllers = Array.from({ length: 50 }, () => new AbortController())
  for (const controller of controllers) abortWith(controller, ending.signal)
  for (const controller of controllers.slice(10)) controller.abort('done')
  expect(getEventListeners(ending.signal, 'abort')).toHaveLength(10)
  const reasons = controllers.slice(0, 10).map(async ({ signal }) => {
    await once(signal, 'abort')
    return signal.reason as unknown
  })
  ending.abort('over')
  expect(new Set(await Promise.all(reasons))).toEqual(new Set(['over']))
  expect(controllers.at(-1)!.signal.reason).toBe('done')
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', warned)
  expect(warnings).toEqual([])
})

test('a controller follows an already aborted signal at once', () => {
  const controller = new AbortController()
  abortWith(controller, AbortSignal.abort('over'))
  expect(controller.signal.reason).toBe('over')
})
