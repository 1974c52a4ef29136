import { Button } from '@mantine/core'
import { DownloadIcon } from './icons.tsx'

interface StatementButtonProps {
  readonly href: string
  /** Name of the file, without its ending. */
  readonly name: string
  readonly compact?: boolean
}

/** Downloads a statement that the service makes; the session's cookie goes with the request. */
export function StatementButton({ href, name, compact = false }: StatementButtonProps) {
  return (
    <Button
      component="a"
      href={href}
      download={`${name}.pdf`}
      variant="default"
      leftSection={<DownloadIcon />}
      size={compact ? 'compact-sm' : 'sm'}
    >
      Statement (PDF)
    </Button>
  )
}
