import { Affix, Alert, Button, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { lastAct } from '../last-act.ts'
import { Instant } from '../parts/instant.tsx'

const WARNED_MS = 120_000
const CHECK_MS = 5_000

interface IdleWarningProps {
  /** A session ends when nothing is done for so long. */
  readonly idleSeconds: number | undefined
  /** Any request says that the person is here. */
  readonly stay: () => Promise<unknown>
}

/** Two minutes before a session ends because nothing is done; where something was done that no request has said, one does. */
export function IdleWarning({ idleSeconds, stay }: IdleWarningProps) {
  const [endsMs, setEndsMs] = useState<number>()
  useEffect(() => {
    if (idleSeconds === undefined) return undefined
    const timer = setInterval(() => {
      const { isReported, reportedMs } = lastAct()
      const ends = reportedMs + idleSeconds * 1_000
      const isNear = ends - Date.now() < WARNED_MS
      if (isNear && !isReported) void stay().catch(() => undefined)
      setEndsMs(isNear && isReported && ends > Date.now() ? ends : undefined)
    }, CHECK_MS)
    return () => clearInterval(timer)
  }, [idleSeconds, stay])
  if (endsMs === undefined) return undefined
  return (
    <Affix position={{ bottom: 16, right: 16 }} zIndex={500}>
      <Alert color="yellow" variant="filled" title="Your session is about to end" role="alert" maw={420}>
        <Group>
          <Text size="sm">
            You have done nothing for a while: it ends at <Instant at={new Date(endsMs).toISOString()} />.
          </Text>
          <Button variant="default" size="xs" onClick={() => void stay().then(() => setEndsMs(undefined))}>
            Stay signed in
          </Button>
        </Group>
      </Alert>
    </Affix>
  )
}
