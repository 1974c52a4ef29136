import type { Services } from '@svc/server/http/operation'
import type { ReferenceOptions } from '@svc/server/http/reference'
import { readSandboxFile } from '@svc/server/sandbox/demo'
import type { LiveExamples } from '@svc/server/sandbox/live-reference'

/** What the reference of a sandbox has besides that of live mode; loaded when it is first requested. */
export const sandboxReference = (services: Services): Pick<ReferenceOptions, 'live' | 'index'> => ({
  live: liveExamples(services),
  index: async () => {
    const { CONSOLE, DATA_DIR } = services.config
    const { sandboxIndex } = await import('@svc/server/sandbox/index-page')
    return sandboxIndex({ demo: await readSandboxFile(DATA_DIR), hasConsole: CONSOLE === 'on' })
  },
})

/** Fills the examples of the reference with what works in this sandbox; loaded when the document is first requested. */
function liveExamples(services: Services): NonNullable<ReferenceOptions['live']> {
  let loaded: Promise<LiveExamples> | undefined
  const load = async () => {
    const module = await import('@svc/server/sandbox/live-reference')
    return new module.LiveExamples(services)
  }
  return async (recorded) => {
    try {
      return await (await (loaded ??= load())).fill(recorded)
    } catch (error) {
      services.log.warn({ err: error }, 'the reference shows recorded examples: the live ones failed')
      return undefined
    }
  }
}
