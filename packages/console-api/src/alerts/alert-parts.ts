import type { Services } from '@svc/server/http/operation'
import { AlertSender } from './send-alerts.ts'
import { AlertWatch } from './watch-alerts.ts'

/** What raises alerts and sends them, for as long as the service listens. */
export function alertParts(services: Services): readonly [AlertWatch, AlertSender] {
  const sender = new AlertSender(services)
  return [new AlertWatch(services, () => sender.wake()), sender]
}
