import { readConfig } from '@svc/contract/config'
import { withBatchSpan } from '@svc/platform/db/batch-span'
import { openTracing } from '@svc/platform/opentelemetry'
import { expect, test } from 'vitest'
import { Collector } from '../harness/collector.ts'

test('a batch that several requests share is a child of its first command, and linked with the others', async () => {
  const collector = await Collector.open()
  const tracing = openTracing(readConfig({ OTEL_TRACES_SAMPLER: 'always_on' }), collector.url)
  const [first, second] = [tracing.start('command first'), tracing.start('command second')]
  const run = { queue: 'pay', batchId: 'bat_1', entries: [{ span: first }, {}, { span: second }] }
  const failing = withBatchSpan(tracing, run, async () => {
    throw Object.assign(new Error('payer@bank is not unique'), { code: '23505' })
  })
  await expect(failing).rejects.toThrow()
  for (const span of [first, second]) span.end()
  await tracing.close(10_000)
  await collector.close()
  const named = (name: string) => collector.spans.find((span) => span.name === name)
  const [one, two, batch] = [named('command first'), named('command second'), named('batch pay')]
  expect(batch?.parentSpanId).toBe(one?.spanId)
  expect(one?.traceId).not.toBe(two?.traceId)
  expect(batch?.links?.map(({ spanId }) => spanId)).toEqual([two?.spanId])
  expect(two?.links?.map(({ spanId }) => spanId)).toEqual([batch?.spanId])
  expect(batch?.attributes).toContainEqual({ key: 'error.type', value: { stringValue: '23505' } })
  expect(batch?.attributes).toContainEqual({ key: 'svc.batch.size', value: { intValue: 3 } })
  expect(collector.text).not.toContain('payer@bank')
})

test('work of a batch without a traced request is in no trace, whichever request has started it', async () => {
  const tracing = openTracing(readConfig({}), 'http://127.0.0.1:1')
  const request = tracing.start('request')
  const current = await tracing.within(request, () =>
    withBatchSpan(tracing, { queue: 'pay', batchId: 'bat_2', entries: [{}] }, async () => tracing.current()),
  )
  expect(current).toBeUndefined()
  expect(tracing.within(request, () => tracing.current())).toBe(request)
  request.end()
  expect(tracing.within(request, () => tracing.current())).toBeUndefined()
})
