# The driver inside PowerShell 7: takes requests from a pipe, runs cells in a runspace that stays, and tells of their
# fate on the events' pipe. Output, errors and questions go through PowerShell's own host, so to the terminal.
#
# An interrupt from the terminal ends PowerShell's main pipeline. So that pipeline does nothing but wait, inside one
# call that it cannot leave, for the driver, which has a runspace of its own and stops the cells itself.
param([string] $Folder)

$driver = {
    param([string] $Folder, $Terminal)

    function Open-Pipe([string] $Path, [IO.FileAccess] $Access) {
        [IO.FileStream]::new($Path, [IO.FileMode]::Open, $Access, [IO.FileShare]::ReadWrite)
    }

    function Write-Text($Stream, [string] $Text) {
        $bytes = [Text.UTF8Encoding]::new($false).GetBytes($Text)
        $Stream.Write($bytes, 0, $bytes.Length)
        $Stream.Flush()
    }

    function Send-Event([hashtable] $Fields) {
        Write-Text $events ((ConvertTo-Json -Compress -InputObject $Fields) + "`n")
        if ($Fields.ContainsKey('mark')) {
            [Console]::Out.Flush()
            Write-Text $tty ("{0}]6973;{1}{2}" -f [char] 27, $Fields.mark, [char] 7)
        }
    }

    # To exit would end more than the cell, so the cell throws its status instead; a line stays a line.
    function Convert-Exit([string] $Code) {
        $errors = $null
        $tree = [Management.Automation.Language.Parser]::ParseInput($Code, [ref] $null, [ref] $errors)
        if ($errors) { return $Code }
        $found = $tree.FindAll({ param($node) $node -is [Management.Automation.Language.ExitStatementAst] }, $true)
        foreach ($exit in @($found | Sort-Object { $_.Extent.StartOffset } -Descending)) {
            $status = if ($exit.Pipeline) { $exit.Pipeline.Extent.Text } else { '0' }
            $start = $exit.Extent.StartOffset
            $Code = $Code.Remove($start, $exit.Extent.EndOffset - $start)
            $Code = $Code.Insert($start, "throw [OperationCanceledException]::new('oi-tui exit ' + [int] ($status))")
        }
        $Code
    }

    function Get-Outcome($Cell) {
        if ($Cell.InvocationStateInfo.State -eq 'Stopped') { return 'interrupted', $null }
        $reason = $Cell.InvocationStateInfo.Reason
        if ($reason) {
            $record = if ($reason.ErrorRecord) { $reason.ErrorRecord } else { $null }
            $thrown = if ($record) { $record.Exception } else { $reason }
            for ($inner = $thrown; $inner; $inner = $inner.InnerException) {
                if ($inner.Message -match '^oi-tui exit (-?\d+)$') {
                    if ($Matches[1] -eq '0') { return 'finished', $null }
                    return 'failed', "exit status $($Matches[1])"
                }
            }
            $words = if ($record) { ($record | Out-String).Trim() } else { $thrown.Message }
            $Terminal.UI.WriteErrorLine($words)
            return 'failed', "$($thrown.GetType().Name): $(@($thrown.Message -split "`r?`n")[0])"
        }
        $status = $cells.SessionStateProxy.GetVariable('LASTEXITCODE')
        if ($status) { return 'failed', "exit status $status" }
        'finished', $null
    }

    $requests = [IO.StreamReader]::new((Open-Pipe "$Folder/requests" Read))
    $events = Open-Pipe "$Folder/events" Write
    $tty = Open-Pipe '/dev/tty' Write
    $cells = [Management.Automation.Runspaces.RunspaceFactory]::CreateRunspace($Terminal)
    $cells.Open()
    $cell = $running = $nonce = $null
    Send-Event @{ event = 'ready' }
    $next = $requests.ReadLineAsync()
    while ($true) {
        $handles = @($next.AsyncWaitHandle) + @(if ($running) { $running.AsyncWaitHandle })
        [void] [Threading.WaitHandle]::WaitAny([Threading.WaitHandle[]] $handles)
        if ($running -and $running.IsCompleted) {
            try { [void] $cell.EndInvoke($running) } catch { Write-Debug 'the state of the cell says the same' }
            $state, $reason = Get-Outcome $cell
            $cell.Dispose()
            $running = $null
            Send-Event @{ event = 'finished'; nonce = $nonce; state = $state; reason = $reason; mark = "$nonce.end" }
        }
        if (-not $next.IsCompleted) { continue }
        $line = $next.Result
        if ($null -eq $line) { break }
        $next = $requests.ReadLineAsync()
        $word, $given, $path = $line -split ' ', 3
        if ($word -eq 'interrupt' -and $running) {
            [void] $cell.BeginStop($null, $null)
        } elseif ($word -eq 'run') {
            $nonce = $given
            $cells.SessionStateProxy.SetVariable('LASTEXITCODE', 0)
            $cell = [PowerShell]::Create()
            $cell.Runspace = $cells
            # Not in a scope of its own: what a cell defines stays.
            [void] $cell.AddScript((Convert-Exit ([IO.File]::ReadAllText($path))), $false)
            [void] $cell.AddCommand('Out-Default')
            $kinds = [Management.Automation.Runspaces.PipelineResultTypes]
            $cell.Commands.Commands[0].MergeMyResults($kinds::Error, $kinds::Output)
            try {
                $running = $cell.BeginInvoke()
            } catch {
                $Terminal.UI.WriteErrorLine($_.Exception.Message)
                $cell.Dispose()
                Send-Event @{ event = 'finished'; nonce = $nonce; state = 'failed'; reason = $_.Exception.Message; mark = "$nonce.end" }
            }
        }
    }
}

$serving = [PowerShell]::Create()
$serving.Runspace = [Management.Automation.Runspaces.RunspaceFactory]::CreateRunspace($Host)
$serving.Runspace.Open()
[void] $serving.AddScript($driver.ToString()).AddArgument($Folder).AddArgument($Host)
[void] $serving.Invoke()
