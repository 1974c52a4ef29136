import type { Recorder } from './recorder.ts'
import type { TestService } from './service.ts'

/** Examples of the test clock of a merchant. */
export async function recordClock(recorder: Recorder, service: TestService): Promise<void> {
  const { merchantId: tenantId } = await service.newMerchant()
  const { client: open } = service
  const own = { params: { tenantId } }
  const none = { params: { tenantId: 'mer_nothing' } }
  await recorder.works('sandboxGetClock', 'Not advanced yet', open, own)
  await recorder.works('sandboxAdvanceClock', 'By a day', open, { ...own, body: { bySeconds: 86_400 } })
  await recorder.fails('sandboxAdvanceClock', 'validation_failed', 'Backwards', open, {
    ...own,
    body: { bySeconds: -60 },
  })
  await recorder.fails('sandboxGetClock', 'tenant_not_found', 'No such tenant', open, none)
  await recorder.fails('sandboxAdvanceClock', 'tenant_not_found', 'No such tenant', open, {
    ...none,
    body: { bySeconds: 60 },
  })
}
