import type { Middleware } from 'openapi-fetch'
import { APP } from './app.ts'

/** That the page was opened counts as well. */
let lastMs = Date.now()

const note = (): void => {
  lastMs = Date.now()
}
for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchmove'])
  window.addEventListener(type, note, { capture: true, passive: true })

/** Windows of one browser share a session: what is done in one of them keeps it alive for all. */
const others = new BroadcastChannel(`svc.${APP}.act`)
others.addEventListener('message', ({ data }: MessageEvent<number>) => {
  lastMs = Math.max(lastMs, data)
  reportedMs = Math.max(reportedMs, data)
})

/** When the person did something last, as far as the service knows; and whether that was the last thing. */
let reportedMs = lastMs
export const lastAct = () => ({ reportedMs, isReported: reportedMs >= lastMs })

/** Says with each call how long ago the person did something: what the page requests by itself keeps no session alive. */
export const sinceLastAct: Middleware = {
  onRequest({ request }) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    if (reportedMs < lastMs) others.postMessage(lastMs)
    reportedMs = lastMs
    const seconds = Math.max(0, Math.floor((Date.now() - lastMs) / 1_000))
    request.headers.set('x-svc-idle-seconds', String(seconds))
  },
}
