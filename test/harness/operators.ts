import type { CommandAudit } from '@svc/platform/audit'
import type { AnyCommand, Commands, MayWait, OpenCommand } from '@svc/platform/command'

type Open = Commands['open']

/** Commands in the name of an operator, as console and command line run them: on the operators' login, and on record. */
export const operatorsOf = (commands: Pick<Commands, 'open'>): { readonly open: Open } => ({
  open: (<Args, D, W>(command: AnyCommand<Args, D> & MayWait<Args, D, W>) => {
    const opened: OpenCommand<Args, D, W> = commands.open<Args, D, W>(command)
    const audit: CommandAudit<D> = { actor: 'operator tests', action: `test.${command.name}`, target: 'test' }
    return { ...opened, run: (args: Args, own = audit) => opened.run(args, own) }
  }) as Open,
})
