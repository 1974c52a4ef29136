import { after, type Field, HOUR_MS, reported } from './instant-fields.ts'
import type { TestService } from './service.ts'

/** The test clock goes to an instant: seen by how far it is ahead of the service then. */
export function clockField(service: TestService): Record<string, Field> {
  const target = after(24 * HOUR_MS)
  return {
    'sandboxAdvanceClock to': {
      async send(to) {
        const { merchantId } = await service.newMerchant()
        const before = service.clock.now()
        const response = await service.client.post(`/sandbox/tenants/${merchantId}/clock/advance`, { to })
        return reported(response, ({ aheadSeconds }) => ({
          found:
            target.getTime() >= before + (aheadSeconds - 1) * 1_000 &&
            target.getTime() <= service.clock.now() + (aheadSeconds + 1) * 1_000,
        }))
      },
      instants: [target],
      finds: () => true,
    },
  }
}
