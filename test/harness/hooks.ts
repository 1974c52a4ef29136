import { type Client, payloadOf } from './client.ts'

/** Creates two endpoints: the one whose id is returned may be deleted. */
export async function newHooks(client: Client): Promise<{ endpointId: string; eventId: string }> {
  const create = () => client.post('/api/v0/webhook-endpoints', { url: 'http://127.0.0.1:59999/' })
  payloadOf(await create())
  const { endpointId } = payloadOf(await create())
  for (;;) {
    const { data } = payloadOf(await client.get('/api/v0/events'))
    if (data.length > 0) return { endpointId, eventId: data[0].id }
  }
}
