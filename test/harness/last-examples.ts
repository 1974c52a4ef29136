import { expect } from 'vitest'
import { type Client, payloadOf } from './client.ts'
import type { Recorder } from './recorder.ts'

/** Examples of probes, of the stream and of the request log, in which the other examples are by then. */
export async function recordLast(recorder: Recorder, open: Client, shop: Client): Promise<void> {
  await recorder.works('livez', 'The process runs', open)
  await recorder.works('readyz', 'Requests may be sent here', open)
  const reporter = { query: { after: 'first' } }
  await recorder.fails('streamEvents', 'validation_failed', 'A place that is no number', shop, reporter)
  const query = { error: 'nothing_to_pay_out' }
  // The request log is written in the background.
  const logged = async () => payloadOf(await shop.get(`/api/v0/requests?${new URLSearchParams(query)}`)).data
  await expect.poll(logged, { timeout: 30_000 }).toHaveLength(1)
  await recorder.works('listRequests', 'Failed with one error code', shop, { query })
}
